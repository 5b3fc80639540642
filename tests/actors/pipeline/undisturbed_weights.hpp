// weights_after() returns the weights that a call of a small engine leaves if nothing disturbs it.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/small_engine.hpp"

namespace penstock::testing {

/// Each call that a test disturbs has this many windows, and thus updates.
inline constexpr std::int64_t windows = 3;

/// Returns the weights after `updates` updates of an undisturbed run on the samples of `windows`.
inline std::vector<Tensor> weights_after(std::int64_t updates, std::int64_t replicas,
                                         double max_grad_norm, bool tied = false) {
  SmallEngine engine({.tied = tied, .replicas = replicas, .max_grad_norm = max_grad_norm});
  if (updates == 0) return engine.first_variables();
  const std::int64_t micro_batches = engine.micro_batches(updates);
  std::vector<Tensor> inputs;
  for (const Tensor& input : engine.inputs(windows))
    inputs.push_back(input.rows(0, micro_batches * replicas * SmallEngine::batch));
  run_step(engine.runtime(), inputs, micro_batches);
  return engine.runtime().read_variables();
}

}  // namespace penstock::testing
