// Adam and the rules derived from it share these running moments: m follows the gradient, and v the
// gradient's square. Constants are worked out in double once per step and rounded to f32 where
// PyTorch rounds them.
#pragma once

#include <cmath>
#include <cstdint>

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

inline MomentConstants moment_constants(const Hyper& hyper) {
  return {.beta1 = static_cast<float>(hyper.beta1),
          .inflow1 = static_cast<float>(1 - hyper.beta1),
          .beta2 = static_cast<float>(hyper.beta2),
          .inflow2 = static_cast<float>(1 - hyper.beta2)};
}

/// A Corrections has the factors that correct the moments' bias towards 0; both factors are 1
/// without bias correction.
struct Corrections {
  double first;        ///< The mean m / first is unbiased.
  double second_root;  ///< The root of the unbiased v is sqrt(v) / second_root.

  Corrections(const Hyper& hyper, std::int64_t step)
      : first(correction(hyper, hyper.beta1, step)),
        second_root(std::sqrt(correction(hyper, hyper.beta2, step))) {}

 private:
  static double correction(const Hyper& hyper, double beta, std::int64_t step) {
    return hyper.bias_correction ? 1 - std::pow(beta, static_cast<double>(step)) : 1;
  }
};

/// Returns the state of these rules: "exp_avg", which is m, and "exp_avg_sq", which is v.
inline std::vector<StateTensor> moments_state(const Hyper&) {
  return {{"exp_avg"}, {"exp_avg_sq", 0, true}};
}

}  // namespace penstock::graph
