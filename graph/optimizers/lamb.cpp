#include "graph/optimizers/lamb.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/optimizers/moments.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::graph {
namespace {

constexpr HyperNumber numbers[] = {{"learning_rate", &Hyper::learning_rate},
                                   {"beta1", &Hyper::beta1},
                                   {"beta2", &Hyper::beta2},
                                   {"eps", &Hyper::eps},
                                   {"weight_decay", &Hyper::weight_decay},
                                   {"max_weight_norm", &Hyper::max_weight_norm}};

double trust_ratio(double weight_norm, double direction_norm, double max_weight_norm) {
  if (weight_norm == 0 || direction_norm == 0) return 1;
  return std::min(weight_norm, max_weight_norm) / direction_norm;
}

void update(const Hyper& hyper, std::int64_t step, std::span<float> weight,
            const SummedGradient& gradient, std::span<const std::span<float>> state) {
  const UpdateKernels& kernels = kernel_table().updates;
  const Corrections corrections(hyper, step);
  const LambConstants constants{.moments = moment_constants(hyper),
                                .correction1 = static_cast<float>(corrections.first),
                                .correction2_root = static_cast<float>(corrections.second_root),
                                .eps = static_cast<float>(hyper.eps),
                                .decay = static_cast<float>(hyper.weight_decay)};
  float *const w = weight.data(), *const m = state[0].data(), *const v = state[1].data();
  const std::int64_t count = std::ssize(weight);
  const double direction_norm =
      std::sqrt(kernels.lamb_moments(count, constants, gradient, w, m, v));
  const double trust =
      trust_ratio(std::sqrt(squared_norm(weight)), direction_norm, hyper.max_weight_norm);
  kernels.lamb_step(count, constants, static_cast<float>(hyper.learning_rate * trust), w, m, v);
}

}  // namespace

const OptimizerRule lamb{.name = "lamb",
                         .state = moments_state,
                         .update = update,
                         .elementwise = false,
                         .numbers = numbers,
                         .switches = moments_switches};

}  // namespace penstock::graph
