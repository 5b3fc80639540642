// UpdateKernels are the rules of the optimizers, each in one pass over a parameter. They are a part
// of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Is a gradient as it was summed up over micro-batches. The rules use (sum·scale)·clip.
struct SummedGradient {
  const float* sum = nullptr;
  /// Is set to zero, element by element, after the sum is read. It may be `sum`.
  float* cleared = nullptr;
  float scale = 1;
  float clip = 1;
};

struct DescentConstants {
  float rate, decay;
  float momentum = 0, inflow = 1;
  float lookahead = 1;  ///< Is the factor of the gradient itself in Nesterov's step.
  bool nesterov = false;
};

/// Says how m, the mean of past gradients, and v, the mean of their squares, follow the gradient g.
struct MomentConstants {
  float beta1, inflow1;  ///< The formula is m = beta1·m + inflow1·g.
  float beta2, inflow2;
};

struct AdamConstants {
  MomentConstants moments;
  float rate, correction2_root, eps;
  float l2;    ///< Is the factor of w that is added to the gradient.
  float keep;  ///< Is the factor by which w is multiplied before the step.
};

struct LambConstants {
  MomentConstants moments;
  float correction1, correction2_root, eps, decay;
};

struct RmsPropConstants {
  float alpha, inflow, decay, momentum;
  float rate_in, rate_out;  ///< Are factors before and after the momentum buffer.
  float eps_in, eps_out;    ///< Are added inside and outside the root.
};

/// Is the number of elements in a block of a norm: each block is summed by itself, and then the
/// sums of the blocks are added in order. A parameter may be cut between blocks, never inside a
/// block.
inline constexpr std::int64_t norm_block = 8192;

/// Weights and states have `count` elements. The bits of each element depend on that element alone:
/// where PyTorch's vectorised loops multiply and add with one rounding, these functions do so, too.
struct UpdateKernels {
  /// Computes w -= rate·(g + decay·w).
  void (*descend)(std::int64_t count, const DescentConstants&, const SummedGradient&, float* w);
  /// Computes g += decay·w and v = momentum·v + inflow·g. Then it computes w -= rate·v or, if
  /// nesterov is set, w -= rate·(lookahead·g + momentum·v).
  void (*descend_with_momentum)(std::int64_t count, const DescentConstants&, const SummedGradient&,
                                float* w, float* v);
  /// Updates m and v, and then computes w = w·keep - rate·m / (sqrt(v)/correction2_root + eps).
  void (*adam)(std::int64_t count, const AdamConstants&, const SummedGradient&, float* w, float* m,
               float* v);
  /// Updates w by RMSprop. `mean` is null unless the rule is "centered", so that it subtracts the
  /// square of the mean gradient from the mean square; `buffer` is null without momentum.
  void (*rmsprop)(std::int64_t count, const RmsPropConstants&, const SummedGradient&, float* w,
                  float* square, float* mean, float* buffer);
  /// Updates m and v, and returns the squared norm of the directions m/correction1 /
  /// (sqrt(v)/correction2_root + eps) + decay·w.
  double (*lamb_moments)(std::int64_t count, const LambConstants&, const SummedGradient&,
                         const float* w, float* m, float* v);
  /// Computes the directions of which lamb_moments() returns the squared norm.
  void (*lamb_directions)(std::int64_t count, const LambConstants&, const float* w, const float* m,
                          const float* v, float* directions);
  /// Computes w -= rate·direction. The direction is computed a second time, which takes less time
  /// than to keep it in memory.
  void (*lamb_step)(std::int64_t count, const LambConstants&, float rate, float* w, const float* m,
                    const float* v);
  /// Returns the sum of the squares of scale·x, in double: each block of norm_block elements is
  /// summed by itself, and then the sums of the blocks are added in order.
  double (*squared_norm)(std::int64_t count, float scale, const float* x);
};

}  // namespace penstock::graph
