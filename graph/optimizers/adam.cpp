#include "graph/optimizers/adam.hpp"

#include "graph/optimizers/moments.hpp"

namespace penstock::graph {
namespace {

/// One step with both kinds of decay: `l2` w is added to the gradient, and w is multiplied by
/// `keep` first.
void advance(const Hyper& hyper, std::int64_t step, float l2, float keep, std::span<float> weight,
             std::span<const float> gradient, std::span<const std::span<float>> state) {
  const Moments moments(hyper, step);
  const auto rate = static_cast<float>(hyper.learning_rate / moments.correction1);
  const auto correction2_root = static_cast<float>(moments.correction2_root);
  const auto eps = static_cast<float>(hyper.eps);
  const std::span<float> m = state[0], v = state[1];
  for (std::size_t i = 0; i < weight.size(); ++i) {
    moments.advance(gradient[i] + l2 * weight[i], m[i], v[i]);
    const float denominator = std::sqrt(v[i]) / correction2_root + eps;
    weight[i] = weight[i] * keep - rate * m[i] / denominator;
  }
}

void update_adam(const Hyper& hyper, std::int64_t step, std::span<float> weight,
                 std::span<const float> gradient, std::span<const std::span<float>> state) {
  advance(hyper, step, static_cast<float>(hyper.weight_decay), 1, weight, gradient, state);
}

void update_adamw(const Hyper& hyper, std::int64_t step, std::span<float> weight,
                  std::span<const float> gradient, std::span<const std::span<float>> state) {
  const auto keep = static_cast<float>(1 - hyper.learning_rate * hyper.weight_decay);
  advance(hyper, step, 0, keep, weight, gradient, state);
}

}  // namespace

const OptimizerRule adam{.name = "adam", .state = moments_state, .update = update_adam};

const OptimizerRule adamw{.name = "adamw", .state = moments_state, .update = update_adamw};

}  // namespace penstock::graph
