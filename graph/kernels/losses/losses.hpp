// LossKernels compute losses that compare two tensors element by element. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// LossConstants are the constants of all formulas. A formula reads only the constants that it
/// uses.
struct LossConstants {
  /// The loss `smooth` is a parabola where x and the target are less apart than this.
  float beta = 1;
  float margin = 1;  ///< This is the margin of the loss `hinge`.
  float eps = 0;     ///< The loss `poisson` adds this to the rate before it takes the logarithm.
  float delta = 1;   ///< The loss `huber` is a parabola where x and the target are this near.
};

/// These kernels compute a loss that has one term for each pair (x, target).
struct PairLossKernels {
  void (*terms)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                float* y);
  /// Returns the sum of the terms. `count` alone fixes the order in which they are added.
  double (*sum)(std::int64_t count, const LossConstants&, const float* x, const float* target);
  /// Computes `dx`, the derivative of each term in x times `dloss`, the gradient of that term. `dx`
  /// may be written over `x` or `target`.
  void (*gradient)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                   RowOperand dloss, float* dx);
  /// Computes `dtarget`, the derivative of each term in the target times `dloss`. The pointer is
  /// null if the target has no gradient, or if its gradient is -dx.
  void (*target_gradient)(std::int64_t count, const LossConstants&, const float* x,
                          const float* target, RowOperand dloss, float* dtarget);
};

/// These kernels compute a loss with the terms max(0, margin - target·(a - b)).
struct RankingKernels {
  void (*terms)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target, float* y);
  double (*sum)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target);
  /// Computes `da`, the gradient of `a`, which may be written over `a`, `b` or `target`. The
  /// gradient of `b` is -da.
  void (*gradient)(std::int64_t count, float margin, const float* a, const float* b,
                   const float* target, RowOperand dloss, float* da);
};

/// These kernels compute the negative log-likelihood of targets under normal distributions that
/// have the means x and the variances `variance`. The terms are (log v + (x - target)²/v)/2 +
/// constant, where v is the variance or, if that is less, `eps`.
struct GaussianKernels {
  void (*terms)(std::int64_t count, float eps, float constant, const float* x, const float* target,
                const float* variance, float* y);
  double (*sum)(std::int64_t count, float eps, float constant, const float* x, const float* target,
                const float* variance);
  /// Computes `dx`, which may be written over any operand. The gradient of the target is -dx.
  void (*gradient)(std::int64_t count, float eps, const float* x, const float* target,
                   const float* variance, RowOperand dloss, float* dx);
  /// Computes the gradient of the variance as if v were the variance itself, as PyTorch does. The
  /// result may be written over any operand.
  void (*variance_gradient)(std::int64_t count, float eps, const float* x, const float* target,
                            const float* variance, RowOperand dloss, float* dvariance);
};

/// These losses are named after their formulas in loss_formulas.hpp, except for `ranking` and
/// `gaussian`.
struct LossKernels {
  PairLossKernels squared;
  PairLossKernels absolute;
  PairLossKernels smooth;
  PairLossKernels huber;
  PairLossKernels binary;
  PairLossKernels binary_logits;
  PairLossKernels divergence;
  PairLossKernels divergence_from_logarithm;
  /// The first index is 1 if x is the logarithm of the rate, and the second is 1 if Stirling's
  /// approximation is added.
  PairLossKernels poisson[2][2];
  PairLossKernels hinge;
  PairLossKernels soft_margin;
  RankingKernels ranking;
  GaussianKernels gaussian;
  /// Computes y = log(min(max(x, low), high)). `y` may be written over `x`.
  void (*clipped_logarithm)(std::int64_t count, float low, float high, const float* x, float* y);
  /// Computes dx = dy/x, or 0 where x is below `low` or above `high`. `dx` may be written over `x`
  /// or `dy`.
  void (*clipped_logarithm_gradient)(std::int64_t count, float low, float high, const float* x,
                                     const float* dy, float* dx);
};

}  // namespace penstock::graph
