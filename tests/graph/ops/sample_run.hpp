// One sample of an op, run forward and back on a tape: where the generic op tests start.
#pragma once

#include <vector>

#include "tests/support/tape.hpp"

namespace penstock::graph {

struct SampleRun {
  testing::Tape tape;
  std::vector<ValueId> inputs;
  ValueId output;          ///< Is output 0, the only one into which gradients are fed.
  Tensor output_gradient;  ///< Is what was fed in; it is empty for an op without `backward`.
};

/// Draws the sample's inputs and runs the op and, if it has one, its gradient, for the inputs at
/// the positions `wanted`, or for all of them.
SampleRun run_sample(const Op& op, const OpSample& sample, std::vector<std::size_t> wanted = {});

/// The ops that have samples, the parameters of the generic tests.
std::vector<const Op*> ops_with_samples();

}  // namespace penstock::graph
