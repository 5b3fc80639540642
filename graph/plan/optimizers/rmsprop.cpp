// RMSprop (Hinton) computes as torch.optim.RMSprop:
//   g += weight_decay w;  s = alpha s + (1 - alpha) g^2;  x = g / (sqrt(s) + eps).
// With `centered`, a = alpha a + (1 - alpha) g, and sqrt(s - a^2) takes the place of sqrt(s); the
// root is 0 where rounding makes s - a^2 negative. The weights move by w -= learning_rate x or,
// with momentum, by
//   u = momentum u + x;  w -= learning_rate u.
// With `tf_variant`, the rule is TensorFlow's: x = g / sqrt(s + eps), s starts at 1, and the buffer
// holds the learning rate: u = momentum u + learning_rate x;  w -= u.
#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/optimizers/rule_description.hpp"

namespace penstock::graph {
namespace {

/// Returns the state tensors. In TensorFlow's variant, the state tensors have other names than in
/// PyTorch, because they are other quantities: the momentum has the learning rates in it, and the
/// mean of squares has a share of the 1 from which it starts.
std::vector<StateTensor> state(const Hyper& hyper) {
  const bool tf = hyper.tf_variant;
  std::vector<StateTensor> tensors{{tf ? "rms" : "square_avg", tf ? 1.0f : 0.0f, true}};
  if (hyper.centered) tensors.push_back({tf ? "mg" : "grad_avg"});
  if (hyper.momentum != 0) tensors.push_back({tf ? "momentum" : "momentum_buffer"});
  return tensors;
}

void update(const Hyper& hyper, std::int64_t, std::span<float> weight,
            const SummedGradient& gradient, std::span<const std::span<float>> state) {
  const bool tf = hyper.tf_variant;
  const auto rate = static_cast<float>(hyper.learning_rate), eps = static_cast<float>(hyper.eps);
  // In TensorFlow's variant, the learning rate goes into the momentum buffer. In PyTorch's variant,
  // the learning rate multiplies what is taken from the buffer.
  const RmsPropConstants constants{.alpha = static_cast<float>(hyper.alpha),
                                   .inflow = static_cast<float>(1 - hyper.alpha),
                                   .decay = static_cast<float>(hyper.weight_decay),
                                   .momentum = static_cast<float>(hyper.momentum),
                                   .rate_in = tf ? rate : 1,
                                   .rate_out = tf ? 1 : rate,
                                   .eps_in = tf ? eps : 0,
                                   .eps_out = tf ? 0 : eps};
  kernel_table().updates.rmsprop(std::ssize(weight), constants, gradient, weight.data(),
                                 state[0].data(), hyper.centered ? state[1].data() : nullptr,
                                 hyper.momentum != 0 ? state.back().data() : nullptr);
}

constexpr RuleConstant constants[] = {
    constant<&RmsProp::learning_rate>("learning_rate"),
    constant<&RmsProp::alpha>("alpha"),
    constant<&RmsProp::eps>("eps"),
    constant<&RmsProp::momentum>("momentum"),
    constant<&RmsProp::weight_decay>("weight_decay"),
    constant<&RmsProp::centered>("centered"),
    constant<&RmsProp::tf_variant>("tf_variant"),
};

}  // namespace

template <>
struct Description<RmsProp> {
  static constexpr OptimizerRule rule{
      .name = "rmsprop", .state = state, .update = update, .constants = constants};
};
template const OptimizerRule& described_rule<RmsProp>();

}  // namespace penstock::graph
