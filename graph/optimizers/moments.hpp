// The running moments that Adam and LAMB share: m follows the gradient, v its square. Constants are
// worked out in double once per step and rounded to f32 where PyTorch rounds them.
#pragma once

#include <cmath>
#include <cstdint>

#include "graph/optimizer_rule.hpp"
#include "graph/optimizers/multiply_add.hpp"

namespace penstock::graph {

struct Moments {
  float beta1, beta2;
  float inflow1, inflow2;
  double correction1;       ///< m / correction1 is unbiased
  double correction2_root;  ///< sqrt(v) / correction2_root is the root of the unbiased v

  Moments(const Hyper& hyper, std::int64_t step)
      : beta1(static_cast<float>(hyper.beta1)),
        beta2(static_cast<float>(hyper.beta2)),
        inflow1(static_cast<float>(1 - hyper.beta1)),
        inflow2(static_cast<float>(1 - hyper.beta2)),
        correction1(correction(hyper, hyper.beta1, step)),
        correction2_root(std::sqrt(correction(hyper, hyper.beta2, step))) {}

  void advance(float gradient, float& m, float& v) const noexcept {
    m = multiply_add(inflow1, gradient, beta1 * m);
    v = beta2 * v + inflow2 * gradient * gradient;
  }

 private:
  static double correction(const Hyper& hyper, double beta, std::int64_t step) {
    return hyper.bias_correction ? 1 - std::pow(beta, static_cast<double>(step)) : 1;
  }
};

/// Adam's and LAMB's state: "exp_avg" (m) and "exp_avg_sq" (v).
inline std::vector<StateTensor> moments_state(const Hyper&) {
  return {{"exp_avg"}, {"exp_avg_sq"}};
}

}  // namespace penstock::graph
