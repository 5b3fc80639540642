#include "graph/plan/optimizers/sgd.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Another name for another quantity: Keras's has the learning rates in it.
std::vector<StateTensor> state(const Hyper& hyper) {
  if (hyper.momentum == 0) return {};
  return {{hyper.keras_variant ? "momentum" : "momentum_buffer"}};
}

constexpr HyperNumber numbers[] = {{"learning_rate", &Hyper::learning_rate},
                                   {"momentum", &Hyper::momentum},
                                   {"dampening", &Hyper::dampening},
                                   {"weight_decay", &Hyper::weight_decay}};
constexpr HyperSwitch switches[] = {{"nesterov", &Hyper::nesterov},
                                    {"dampen_first_step", &Hyper::dampen_first_step},
                                    {"keras_variant", &Hyper::keras_variant}};

/// Without momentum.
void descend(const Hyper& hyper, std::span<float> weight, const SummedGradient& gradient) {
  const double undampened = hyper.dampen_first_step ? 1 - hyper.dampening : 1;
  const DescentConstants constants{.rate = static_cast<float>(hyper.learning_rate * undampened),
                                   .decay = static_cast<float>(hyper.weight_decay)};
  kernel_table().updates.descend(std::ssize(weight), constants, gradient, weight.data());
}

void update(const Hyper& hyper, std::int64_t step, std::span<float> weight,
            const SummedGradient& gradient, std::span<const std::span<float>> state) {
  if (hyper.momentum == 0) return descend(hyper, weight, gradient);
  const bool dampened = step > 1 || hyper.dampen_first_step, keras = hyper.keras_variant;
  const auto rate = static_cast<float>(hyper.learning_rate);
  const auto inflow = static_cast<float>(dampened ? 1 - hyper.dampening : 1);
  // The learning rate goes into the momentum buffer, or comes after it.
  const DescentConstants constants{.rate = keras ? 1 : rate,
                                   .decay = static_cast<float>(hyper.weight_decay),
                                   .momentum = static_cast<float>(hyper.momentum),
                                   .inflow = keras ? rate : inflow,
                                   .lookahead = keras ? rate : 1,
                                   .nesterov = hyper.nesterov};
  kernel_table().updates.descend_with_momentum(std::ssize(weight), constants, gradient,
                                               weight.data(), state[0].data());
}

void check(const Hyper& hyper) {
  if (hyper.nesterov && (hyper.momentum == 0 || hyper.dampening != 0))
    throw Error(Errc::invalid_argument,
                "sgd.nesterov: expected a momentum of more than 0 and a dampening of 0, got " +
                    number_text(hyper.momentum) + " and " + number_text(hyper.dampening));
  if (hyper.keras_variant && hyper.dampening != 0)
    throw Error(Errc::invalid_argument, "sgd.keras_variant: expected a dampening of 0, got " +
                                            number_text(hyper.dampening));
}

}  // namespace

const OptimizerRule sgd{.name = "sgd",
                        .state = state,
                        .update = update,
                        .numbers = numbers,
                        .switches = switches,
                        .check = check};

}  // namespace penstock::graph
