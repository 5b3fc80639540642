#include "graph/optimizers/rmsprop.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::graph {
namespace {

std::vector<StateTensor> state(const Hyper& hyper) {
  std::vector<StateTensor> tensors{{"square_avg", hyper.tf_variant ? 1.0f : 0.0f}};
  if (hyper.centered) tensors.push_back({"grad_avg"});
  if (hyper.momentum != 0) tensors.push_back({"momentum_buffer"});
  return tensors;
}

template <bool centered, bool with_momentum>
void update_as(const Hyper& hyper, std::span<float> weight, std::span<const float> gradient,
               std::span<const std::span<float>> state) {
  const bool tf = hyper.tf_variant;
  const auto alpha = static_cast<float>(hyper.alpha), inflow = static_cast<float>(1 - hyper.alpha);
  const auto decay = static_cast<float>(hyper.weight_decay);
  const auto momentum = static_cast<float>(hyper.momentum);
  const auto rate = static_cast<float>(hyper.learning_rate);
  // The learning rate goes into the momentum buffer, or comes after it.
  const float rate_in = tf ? rate : 1, rate_out = tf ? 1 : rate;
  const auto eps = static_cast<float>(hyper.eps);
  const float eps_in = tf ? eps : 0, eps_out = tf ? 0 : eps;
  float* const square = state[0].data();
  float* const mean = centered ? state[1].data() : nullptr;
  float* const buffer = with_momentum ? state.back().data() : nullptr;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const float g = gradient[i] + decay * weight[i];
    square[i] = alpha * square[i] + inflow * g * g;
    float variance = square[i];
    if constexpr (centered) {
      mean[i] = alpha * mean[i] + inflow * g;
      variance = std::max(variance - mean[i] * mean[i], 0.0f);
    }
    float change = rate_in * g / (std::sqrt(variance + eps_in) + eps_out);
    if constexpr (with_momentum) change = buffer[i] = momentum * buffer[i] + change;
    weight[i] -= rate_out * change;
  }
}

void update(const Hyper& hyper, std::int64_t, std::span<float> weight,
            std::span<const float> gradient, std::span<const std::span<float>> state) {
  constexpr decltype(&update_as<false, false>) variants[2][2] = {
      {update_as<false, false>, update_as<false, true>},
      {update_as<true, false>, update_as<true, true>}};
  variants[hyper.centered][hyper.momentum != 0](hyper, weight, gradient, state);
}

}  // namespace

const OptimizerRule rmsprop{.name = "rmsprop", .state = state, .update = update};

}  // namespace penstock::graph
