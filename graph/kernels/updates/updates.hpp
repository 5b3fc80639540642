// UpdateKernels: the optimizers' rules, each in one pass over a parameter, a part of KernelTable.
// Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A gradient as it was summed up over micro-batches: it is (sum·scale)·clip.
struct SummedGradient {
  const float* sum = nullptr;
  float* cleared =
      nullptr;  ///< becomes zero, element by element after the sum is read; may be `sum`
  float scale = 1;
  float clip = 1;
};

struct DescentConstants {
  float rate, decay;
  float momentum = 0, inflow = 1;
  float lookahead = 1;  ///< what Nesterov's step has of the gradient itself
  bool nesterov = false;
};

/// m follows the gradient, v its square.
struct MomentConstants {
  float beta1, inflow1;  ///< m = beta1·m + inflow1·g
  float beta2, inflow2;
};

struct AdamConstants {
  MomentConstants moments;
  float rate, correction2_root, eps;
  float l2;    ///< times w is added to the gradient
  float keep;  ///< w is multiplied by it first
};

struct LambConstants {
  MomentConstants moments;
  float correction1, correction2_root, eps, decay;
};

struct RmsPropConstants {
  float alpha, inflow, decay, momentum;
  float rate_in, rate_out;  ///< before and after the momentum buffer
  float eps_in, eps_out;    ///< inside and outside the root
};

/// Elements that a norm adds up by themselves, before the blocks' sums are added in order. A
/// parameter may be cut between blocks, never inside one.
inline constexpr std::int64_t norm_block = 8192;

/// Weights and states have `count` elements. Each element's bits depend on that element alone:
/// where PyTorch's vectorised loops multiply and add in one rounding, so do these.
struct UpdateKernels {
  /// w -= rate·(g + decay·w)
  void (*descend)(std::int64_t count, const DescentConstants&, const SummedGradient&, float* w);
  /// g += decay·w; v = momentum·v + inflow·g; w -= rate·v, or with Nesterov
  /// rate·(lookahead·g + momentum·v).
  void (*descend_with_momentum)(std::int64_t count, const DescentConstants&, const SummedGradient&,
                                float* w, float* v);
  /// w = w·keep - rate·m / (sqrt(v)/correction2_root + eps), after m and v have followed.
  void (*adam)(std::int64_t count, const AdamConstants&, const SummedGradient&, float* w, float* m,
               float* v);
  /// `mean` is null unless centered, `buffer` is null without momentum.
  void (*rmsprop)(std::int64_t count, const RmsPropConstants&, const SummedGradient&, float* w,
                  float* square, float* mean, float* buffer);
  /// m and v follow; returns the squared norm of the directions that follow from them,
  /// m/correction1 / (sqrt(v)/correction2_root + eps) + decay·w.
  double (*lamb_moments)(std::int64_t count, const LambConstants&, const SummedGradient&,
                         const float* w, float* m, float* v);
  /// These directions themselves.
  void (*lamb_directions)(std::int64_t count, const LambConstants&, const float* w, const float* m,
                          const float* v, float* directions);
  /// w -= rate·direction, worked out a second time: that is cheaper than memory for it.
  void (*lamb_step)(std::int64_t count, const LambConstants&, float rate, float* w, const float* m,
                    const float* v);
  /// The sum of the squares of scale·x, in double: each block by itself, then the blocks in order.
  double (*squared_norm)(std::int64_t count, float scale, const float* x);
};

}  // namespace penstock::graph
