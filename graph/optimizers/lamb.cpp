#include "graph/optimizers/lamb.hpp"

#include <algorithm>
#include <array>

#include "graph/optimizers/moments.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::graph {
namespace {

/// The direction that a weight moves against, from its moments.
struct LambDirection {
  float correction1;
  float correction2_root;
  float eps;
  float decay;

  LambDirection(const Hyper& hyper, const Moments& moments)
      : correction1(static_cast<float>(moments.correction1)),
        correction2_root(static_cast<float>(moments.correction2_root)),
        eps(static_cast<float>(hyper.eps)),
        decay(static_cast<float>(hyper.weight_decay)) {}

  float operator()(float weight, float m, float v) const noexcept {
    return m / correction1 / (std::sqrt(v) / correction2_root + eps) + decay * weight;
  }
};

double trust_ratio(double weight_norm, double direction_norm, double max_weight_norm) {
  if (weight_norm == 0 || direction_norm == 0) return 1;
  return std::min(weight_norm, max_weight_norm) / direction_norm;
}

void update(const Hyper& hyper, std::int64_t step, std::span<float> weight,
            std::span<const float> gradient, std::span<const std::span<float>> state) {
  const Moments moments(hyper, step);
  const LambDirection direction(hyper, moments);
  const std::span<float> m = state[0], v = state[1];
  std::array<float, norm_block> block;
  double squared_direction_norm = 0;
  for (std::size_t begin = 0; begin < weight.size(); begin += norm_block) {
    const std::size_t size = std::min(norm_block, weight.size() - begin);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = begin + i;
      moments.advance(gradient[at], m[at], v[at]);
      block[i] = direction(weight[at], m[at], v[at]);
    }
    squared_direction_norm += squared_norm({block.data(), size});
  }
  const double trust = trust_ratio(std::sqrt(squared_norm(weight)),
                                   std::sqrt(squared_direction_norm), hyper.max_weight_norm);
  const auto rate = static_cast<float>(hyper.learning_rate * trust);
  // Worked out a second time, rather than kept: a direction is cheaper than the memory for it.
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] -= rate * direction(weight[i], m[i], v[i]);
}

}  // namespace

const OptimizerRule lamb{.name = "lamb", .state = moments_state, .update = update};

}  // namespace penstock::graph
