// LossKernels are losses that compare two tensors element by element, a part of KernelTable. This
// header has declarations only, because sources of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// Holds the constants of all formulas. A formula reads only the constants that it uses.
struct LossConstants {
  float beta = 1;    ///< Is the distance below which smooth_l1 is a parabola.
  float margin = 1;  ///< Is the margin of hinge.
  float eps = 0;     ///< Is added to the rate before poisson takes its logarithm.
};

/// Computes a loss with a term for each pair (x, target).
struct PairLossKernels {
  void (*terms)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                float* y);
  /// Returns the sum of the terms. Their order is fixed by `count`.
  double (*sum)(std::int64_t count, const LossConstants&, const float* x, const float* target);
  /// Computes dx = d term/dx · dloss; dx may have the memory of x or target.
  void (*gradient)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                   RowOperand dloss, float* dx);
  /// Computes the gradient of the target. It is null where the target is a constant, or where its
  /// gradient is -dx.
  void (*target_gradient)(std::int64_t count, const LossConstants&, const float* x,
                          const float* target, RowOperand dloss, float* dtarget);
};

/// Computes max(0, margin - target·(a - b)).
struct RankingKernels {
  void (*terms)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target, float* y);
  double (*sum)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target);
  /// Computes da, which may have the memory of a, b or target; db is -da.
  void (*gradient)(std::int64_t count, float margin, const float* a, const float* b,
                   const float* target, RowOperand dloss, float* da);
};

/// Holds the losses whose formulas are in loss_formulas.hpp.
struct LossKernels {
  PairLossKernels squared;
  PairLossKernels absolute;
  PairLossKernels smooth;
  PairLossKernels binary;
  PairLossKernels binary_logits;
  PairLossKernels divergence;
  PairLossKernels divergence_from_logarithm;
  /// Holds the variants of the formula: poisson[x is the logarithm of the rate][with Stirling's
  /// term].
  PairLossKernels poisson[2][2];
  PairLossKernels hinge;
  PairLossKernels soft_margin;
  RankingKernels ranking;
  /// Computes y = log(min(max(x, low), high)); y may have the memory of x.
  void (*clipped_logarithm)(std::int64_t count, float low, float high, const float* x, float* y);
  /// Computes dx = dy/x, which is 0 where x was clipped; dx may have the memory of x or dy.
  void (*clipped_logarithm_gradient)(std::int64_t count, float low, float high, const float* x,
                                     const float* dy, float* dx);
};

}  // namespace penstock::graph
