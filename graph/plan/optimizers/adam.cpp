// Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization") computes as torch.optim.Adam:
//   g += weight_decay w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
//   w -= learning_rate m' / (sqrt(v') + eps).
// With `bias_correction`, m' is m / (1 - beta1^step) and v' is v / (1 - beta2^step); without it,
// they are m and v. AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization") computes
// as torch.optim.AdamW: the weights shrink by w *= 1 - learning_rate weight_decay, and the gradient
// has no decay. PopTorch's AdamW corrects the bias even if `bias_correction` is off, and this AdamW
// does not.
#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/optimizers/moments.hpp"
#include "graph/plan/optimizers/rule_description.hpp"

namespace penstock::graph {
namespace {

/// Does one step with both kinds of weight decay: first multiplies the weights by `keep`, then adds
/// `l2` times the weights to the gradient.
void advance(const Hyper& hyper, std::int64_t step, double l2, double keep, std::span<float> weight,
             const SummedGradient& gradient, std::span<const std::span<float>> state) {
  const Corrections corrections(hyper, step);
  const AdamConstants constants{.moments = moment_constants(hyper),
                                .rate = static_cast<float>(hyper.learning_rate / corrections.first),
                                .correction2_root = static_cast<float>(corrections.second_root),
                                .eps = static_cast<float>(hyper.eps),
                                .l2 = static_cast<float>(l2),
                                .keep = static_cast<float>(keep)};
  kernel_table().updates.adam(std::ssize(weight), constants, gradient, weight.data(),
                              state[0].data(), state[1].data());
}

void update_adam(const Hyper& hyper, std::int64_t step, std::span<float> weight,
                 const SummedGradient& gradient, std::span<const std::span<float>> state) {
  advance(hyper, step, hyper.weight_decay, 1, weight, gradient, state);
}

void update_adamw(const Hyper& hyper, std::int64_t step, std::span<float> weight,
                  const SummedGradient& gradient, std::span<const std::span<float>> state) {
  advance(hyper, step, 0, 1 - hyper.learning_rate * hyper.weight_decay, weight, gradient, state);
}

template <class Settings>
constexpr RuleConstant constants[] = {
    constant<&Settings::learning_rate>("learning_rate"),
    constant<&Settings::beta1>("beta1"),
    constant<&Settings::beta2>("beta2"),
    constant<&Settings::eps>("eps"),
    constant<&Settings::weight_decay>("weight_decay"),
    constant<&Settings::bias_correction>("bias_correction"),
};

}  // namespace

template <>
struct Description<Adam> {
  static constexpr OptimizerRule rule{
      .name = "adam", .state = moments_state, .update = update_adam, .constants = constants<Adam>};
};
template const OptimizerRule& described_rule<Adam>();

template <>
struct Description<AdamW> {
  static constexpr OptimizerRule rule{.name = "adamw",
                                      .state = moments_state,
                                      .update = update_adamw,
                                      .constants = constants<AdamW>};
};
template const OptimizerRule& described_rule<AdamW>();

}  // namespace penstock::graph
