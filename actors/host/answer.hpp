// An answer is what a call of the host's may return.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock::actors {

using Outputs = std::vector<Tensor>;    ///< Has tensors in the order of Plan::outputs.
using Variables = std::vector<Tensor>;  ///< Has tensors in the order of Plan::variables.

struct Done {};

/// Says how many micro-batches per replica a call has done that was asked to stop. It will do no
/// others.
struct CutAfter {
  std::int64_t micro_batches = 0;
};

/// Holds what a call that runs micro-batches returns.
struct StepOutcome {
  Outputs outputs = {};
  double mean_loss = 0;  ///< Is the mean loss that StepResult has.
};

using Answer = std::variant<Done, StepOutcome, CutAfter>;

}  // namespace penstock::actors
