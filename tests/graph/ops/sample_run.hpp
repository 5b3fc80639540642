// run_sample() runs one sample of an op forward and back on a tape. The generic tests of ops start
// with it.
#pragma once

#include <vector>

#include "tests/support/tape.hpp"

namespace penstock::graph {

struct SampleRun {
  testing::Tape tape;
  std::vector<ValueId> inputs;
  ValueId output;          ///< This is output 0, the only one into which gradients are fed.
  Tensor output_gradient;  ///< This is fed into `output`. It is empty for an op without `backward`.
};

/// Draws the sample's inputs, runs the op and, if it has one, its gradient. The gradient is
/// computed for the inputs at the positions `wanted`, or for all inputs if `wanted` is empty.
SampleRun run_sample(const Op& op, const OpSample& sample, std::vector<std::size_t> wanted = {});

/// Returns the ops that have samples. They are the parameters of the generic tests.
std::vector<const Op*> ops_with_samples();

}  // namespace penstock::graph
