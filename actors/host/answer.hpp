// An Answer is the result of a call by the host.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock::actors {

using Outputs = std::vector<Tensor>;    ///< The tensors are in the order of Plan::outputs.
using Variables = std::vector<Tensor>;  ///< The tensors are in the order of Plan::variables.

struct Done {};

/// A CutAfter is the answer of a call that was asked to stop. It says how many micro-batches per
/// replica the call has done; the call does no more.
struct CutAfter {
  std::int64_t micro_batches = 0;
};

/// A StepOutcome is what a call that runs micro-batches returns.
struct StepOutcome {
  Outputs outputs = {};
  double mean_loss = 0;  ///< This becomes StepResult::mean_loss.
};

using Answer = std::variant<Done, StepOutcome, CutAfter>;

}  // namespace penstock::actors
