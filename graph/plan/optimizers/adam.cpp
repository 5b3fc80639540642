#include "graph/plan/optimizers/adam.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/optimizers/moments.hpp"

namespace penstock::graph {
namespace {

/// One step with both kinds of decay: `l2` w is added to the gradient, and w is multiplied by
/// `keep` first.
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

}  // namespace

const OptimizerRule adam{.name = "adam",
                         .state = moments_state,
                         .update = update_adam,
                         .numbers = moments_numbers,
                         .switches = moments_switches};

const OptimizerRule adamw{.name = "adamw",
                          .state = moments_state,
                          .update = update_adamw,
                          .numbers = moments_numbers,
                          .switches = moments_switches};

}  // namespace penstock::graph
