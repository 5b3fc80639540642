// SGD, stochastic gradient descent, computes as torch.optim.SGD:
//   g += weight_decay w;  v = momentum v + (1 - dampening) g;  w -= learning_rate v.
// With `nesterov`, the last step is w -= learning_rate (g + momentum v). PyTorch does not dampen
// the first step, nor any step without momentum, where v = g and no state is kept. With
// `dampen_first_step`, every step is dampened, with momentum or without, as PopTorch does it. With
// `keras_variant`, the rule is that of tf.keras.optimizers.SGD, whose buffer holds the learning
// rate of each step:
//   v = momentum v + learning_rate g;  w -= v.
// With `keras_variant` and `nesterov`, the last step is w -= momentum v + learning_rate g.
#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/optimizers/rule_description.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the one state tensor, or none without momentum. PyTorch calls the tensor
/// "momentum_buffer". The Keras variant has another name for it, because the tensor is another
/// quantity: the learning rates are in it.
std::vector<StateTensor> state(const Hyper& hyper) {
  if (hyper.momentum == 0) return {};
  return {{hyper.keras_variant ? "momentum" : "momentum_buffer"}};
}

/// Updates a weight that has no momentum.
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
  // In Keras' variant, the momentum buffer holds gradients times the learning rate. In PyTorch's
  // variant, the buffer holds gradients, and the rate multiplies what is taken from the buffer.
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

constexpr RuleConstant constants[] = {
    constant<&Sgd::learning_rate>("learning_rate"),
    constant<&Sgd::momentum>("momentum"),
    constant<&Sgd::dampening>("dampening"),
    constant<&Sgd::weight_decay>("weight_decay"),
    constant<&Sgd::nesterov>("nesterov"),
    constant<&Sgd::dampen_first_step>("dampen_first_step"),
    constant<&Sgd::keras_variant>("keras_variant"),
};

}  // namespace

template <>
struct Description<Sgd> {
  static constexpr OptimizerRule rule{
      .name = "sgd", .state = state, .update = update, .constants = constants, .check = check};
};
template const OptimizerRule& described_rule<Sgd>();

}  // namespace penstock::graph
