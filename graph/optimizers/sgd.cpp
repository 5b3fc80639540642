#include "graph/optimizers/sgd.hpp"

#include "engine/values/number_range.hpp"
#include "graph/optimizers/multiply_add.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::vector<StateTensor> state(const Hyper& hyper) {
  if (hyper.momentum == 0) return {};
  return {{"momentum_buffer"}};
}

void descend(const Hyper& hyper, std::span<float> weight, std::span<const float> gradient) {
  const double undampened = hyper.dampen_first_step ? 1 - hyper.dampening : 1;
  const auto rate = static_cast<float>(hyper.learning_rate * undampened);
  const auto decay = static_cast<float>(hyper.weight_decay);
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = multiply_add(-rate, multiply_add(decay, weight[i], gradient[i]), weight[i]);
}

void update(const Hyper& hyper, std::int64_t step, std::span<float> weight,
            std::span<const float> gradient, std::span<const std::span<float>> state) {
  if (hyper.momentum == 0) return descend(hyper, weight, gradient);
  const bool dampened = step > 1 || hyper.dampen_first_step;
  const auto inflow = static_cast<float>(dampened ? 1 - hyper.dampening : 1);
  const auto momentum = static_cast<float>(hyper.momentum);
  const auto rate = static_cast<float>(hyper.learning_rate);
  const auto decay = static_cast<float>(hyper.weight_decay);
  const bool nesterov = hyper.nesterov;
  const std::span<float> velocity = state[0];
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const float g = multiply_add(decay, weight[i], gradient[i]);
    const float v = multiply_add(inflow, g, momentum * velocity[i]);
    velocity[i] = v;
    weight[i] = multiply_add(-rate, nesterov ? multiply_add(momentum, v, g) : v, weight[i]);
  }
}

void check(const Hyper& hyper) {
  if (hyper.nesterov && (hyper.momentum == 0 || hyper.dampening != 0))
    throw Error(Errc::invalid_argument,
                "sgd.nesterov: expected a momentum of more than 0 and a dampening of 0, got " +
                    number_text(hyper.momentum) + " and " + number_text(hyper.dampening));
}

}  // namespace

const OptimizerRule sgd{.name = "sgd", .state = state, .update = update, .check = check};

}  // namespace penstock::graph
