// LAMB (You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes")
// computes as PopTorch's LAMB, with the m' and v' of Adam (adam.cpp):
//   x = m' / (sqrt(v') + eps) + weight_decay w;  w -= learning_rate trust x.
// Here trust is min(|w|, max_weight_norm) / |x|, or 1 if either norm is 0. Both norms are those of
// the whole parameter.
#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/optimizers/moments.hpp"
#include "graph/plan/optimizers/norm.hpp"
#include "graph/plan/optimizers/rule_description.hpp"

namespace penstock::graph {
namespace {

double trust_ratio(double weight_norm, double direction_norm, double max_weight_norm) {
  if (weight_norm == 0 || direction_norm == 0) return 1;
  return std::min(weight_norm, max_weight_norm) / direction_norm;
}

LambConstants constants_of(const Hyper& hyper, std::int64_t step) {
  const Corrections corrections(hyper, step);
  return {.moments = moment_constants(hyper),
          .correction1 = static_cast<float>(corrections.first),
          .correction2_root = static_cast<float>(corrections.second_root),
          .eps = static_cast<float>(hyper.eps),
          .decay = static_cast<float>(hyper.weight_decay)};
}

void move(const Hyper& hyper, std::int64_t step, double squared_weights, double squared_directions,
          std::span<float> weight, std::span<const std::span<float>> state) {
  const double trust =
      trust_ratio(std::sqrt(squared_weights), std::sqrt(squared_directions), hyper.max_weight_norm);
  kernel_table().updates.lamb_step(std::ssize(weight), constants_of(hyper, step),
                                   static_cast<float>(hyper.learning_rate * trust), weight.data(),
                                   state[0].data(), state[1].data());
}

double follow(const Hyper& hyper, std::int64_t step, std::span<const float> weight,
              const SummedGradient& gradient, std::span<const std::span<float>> state) {
  return kernel_table().updates.lamb_moments(std::ssize(weight), constants_of(hyper, step),
                                             gradient, weight.data(), state[0].data(),
                                             state[1].data());
}

void update(const Hyper& hyper, std::int64_t step, std::span<float> weight,
            const SummedGradient& gradient, std::span<const std::span<float>> state) {
  const double squared_directions = follow(hyper, step, weight, gradient, state);
  move(hyper, step, squared_norm(weight), squared_directions, weight, state);
}

void directions(const Hyper& hyper, std::int64_t step, std::span<const float> weight,
                std::span<const std::span<float>> state, float* directions) {
  kernel_table().updates.lamb_directions(std::ssize(weight), constants_of(hyper, step),
                                         weight.data(), state[0].data(), state[1].data(),
                                         directions);
}

constexpr ShardedRule in_shards{.follow = follow, .directions = directions, .move = move};

constexpr RuleConstant constants[] = {
    constant<&Lamb::learning_rate>("learning_rate"),
    constant<&Lamb::beta1>("beta1"),
    constant<&Lamb::beta2>("beta2"),
    constant<&Lamb::eps>("eps"),
    constant<&Lamb::weight_decay>("weight_decay"),
    constant<&Lamb::max_weight_norm>("max_weight_norm"),
    constant<&Lamb::bias_correction>("bias_correction"),
};

}  // namespace

template <>
struct Description<Lamb> {
  static constexpr OptimizerRule rule{.name = "lamb",
                                      .state = moments_state,
                                      .update = update,
                                      .elementwise = false,
                                      .in_shards = &in_shards,
                                      .constants = constants};
};
template const OptimizerRule& described_rule<Lamb>();

}  // namespace penstock::graph
