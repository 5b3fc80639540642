// The optimizer rule `subtract` changes weights in such a way that a test can tell by them which
// gradient and which step the rule was given.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::testing {

/// This rule computes w -= gradient + step, and adds 1 to the state. It throws at a gradient of
/// 666.
inline const graph::OptimizerRule subtract{
    .name = "subtract",
    .state = [](const graph::Hyper&) -> std::vector<graph::StateTensor> {
      return {{"count", 10.0f}};
    },
    .update =
        [](const graph::Hyper&, std::int64_t step, std::span<float> weight,
           const graph::SummedGradient& gradient, std::span<const std::span<float>> state) {
          for (std::size_t i = 0; i < weight.size(); ++i) {
            const float g = gradient.sum[i] * gradient.scale * gradient.clip;
            if (g == 666) throw std::runtime_error("no luck");
            weight[i] -= g + static_cast<float>(step);
            ++state[0][i];
          }
        }};

}  // namespace penstock::testing
