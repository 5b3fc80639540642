// An Answer is the result of a call of the host's.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock::actors {

using Outputs = std::vector<Tensor>;    ///< Has tensors in the order of Plan::outputs.
using Variables = std::vector<Tensor>;  ///< Has tensors in the order of Plan::variables.

struct Done {};

/// Is the answer of a call that was asked to stop. It says how many micro-batches per replica the
/// call has done; the call does no more.
struct CutAfter {
  std::int64_t micro_batches = 0;
};

/// Holds what a call that runs micro-batches returns.
struct StepOutcome {
  Outputs outputs = {};
  double mean_loss = 0;  ///< Is what StepResult::mean_loss will say.
};

using Answer = std::variant<Done, StepOutcome, CutAfter>;

}  // namespace penstock::actors
