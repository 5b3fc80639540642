// LossKernels: losses that compare two tensors element by element, a part of KernelTable.
// Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/row_operand.hpp"

namespace penstock::graph {

/// The constants of the formulas; each reads what it knows.
struct LossConstants {
  float beta = 1;    ///< below it smooth_l1 is a parabola
  float margin = 1;  ///< of hinge
  float eps = 0;     ///< added to what poisson takes the logarithm of
};

/// A loss with a term for each pair (x, target).
struct PairLossKernels {
  void (*terms)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                float* y);
  /// Of the terms, in an order fixed by `count`.
  double (*sum)(std::int64_t count, const LossConstants&, const float* x, const float* target);
  /// dx = d term/dx · dloss; dx may be x or target.
  void (*gradient)(std::int64_t count, const LossConstants&, const float* x, const float* target,
                   RowOperand dloss, float* dx);
  /// The same for the target; null where that is a constant, or its gradient is -dx.
  void (*target_gradient)(std::int64_t count, const LossConstants&, const float* x,
                          const float* target, RowOperand dloss, float* dtarget);
};

/// max(0, margin - target·(a - b)).
struct RankingKernels {
  void (*terms)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target, float* y);
  double (*sum)(std::int64_t count, float margin, const float* a, const float* b,
                const float* target);
  /// da may be a, b or target; db is -da.
  void (*gradient)(std::int64_t count, float margin, const float* a, const float* b,
                   const float* target, RowOperand dloss, float* da);
};

/// The formulas of pairs are in loss_formulas.hpp.
struct LossKernels {
  PairLossKernels squared;
  PairLossKernels absolute;
  PairLossKernels smooth;
  PairLossKernels binary;
  PairLossKernels binary_logits;
  PairLossKernels divergence;
  PairLossKernels divergence_from_logarithm;
  PairLossKernels poisson[2][2];  ///< [of the logarithm of the rate][with Stirling's term]
  PairLossKernels hinge;
  PairLossKernels soft_margin;
  RankingKernels ranking;
  /// y = log(min(max(x, low), high)); y may be x.
  void (*clipped_logarithm)(std::int64_t count, float low, float high, const float* x, float* y);
  /// dx = dy/x, 0 where x was clipped; dx may be x or dy.
  void (*clipped_logarithm_gradient)(std::int64_t count, float low, float high, const float* x,
                                     const float* dy, float* dx);
};

}  // namespace penstock::graph
