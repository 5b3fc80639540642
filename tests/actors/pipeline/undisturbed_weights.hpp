// These functions make a call of a small engine that nothing disturbs, and return what it leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/small_engine.hpp"

namespace penstock::testing {

/// Each call that a test disturbs has this many windows, and thus updates.
inline constexpr std::int64_t windows = 3;

/// Makes `updates` updates, of which there are none or more, on the first samples of `windows`.
inline void make_updates(SmallEngine& engine, std::int64_t updates, std::int64_t replicas) {
  if (updates == 0) return;
  const std::int64_t micro_batches = engine.micro_batches(updates);
  std::vector<Tensor> inputs;
  for (const Tensor& input : engine.inputs(windows))
    inputs.push_back(input.rows(0, micro_batches * replicas * SmallEngine::batch));
  run_step(engine.runtime(), inputs, micro_batches);
}

/// Returns the weights after `updates` updates of an undisturbed run on the samples of `windows`.
inline std::vector<Tensor> weights_after(std::int64_t updates, std::int64_t replicas,
                                         double max_grad_norm, bool tied = false) {
  SmallEngine engine({.tied = tied, .replicas = replicas, .max_grad_norm = max_grad_norm});
  if (updates == 0) return engine.first_variables();
  make_updates(engine, updates, replicas);
  return engine.runtime().read_variables();
}

}  // namespace penstock::testing
