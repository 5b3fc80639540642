// By an UpdateHook, a test does something in the middle of weight updates: the optimizer rule
// `hooked` calls the hook's function.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::testing {

inline std::function<void(double stage)> before_update;

/// This rule is plain gradient descent, with a call of the hook's function before each parameter.
inline const graph::OptimizerRule hooked{
    .name = "hooked",
    .state = [](const graph::Hyper&) -> std::vector<graph::StateTensor> { return {}; },
    .update =
        [](const graph::Hyper& hyper, std::int64_t, std::span<float> weight,
           const graph::SummedGradient& gradient, std::span<const std::span<float>>) {
          if (before_update) before_update(hyper.alpha);
          for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= gradient.sum[i];
        }};

/// While an UpdateHook lives, every update by `hooked` calls `hook` before each parameter.
struct UpdateHook {
  explicit UpdateHook(std::function<void(double stage)> hook) { before_update = std::move(hook); }
  ~UpdateHook() { before_update = nullptr; }
  UpdateHook(const UpdateHook&) = delete;
  UpdateHook& operator=(const UpdateHook&) = delete;
};

}  // namespace penstock::testing
