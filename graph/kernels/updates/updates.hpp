// UpdateKernels are the rules of the optimizers, each in one or two passes over a parameter. They
// are a part of KernelTable. This header has declarations only, because sources of every
// instruction set include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A SummedGradient is the sum of the gradients of some micro-batches. A rule uses (sum·scale)·clip
/// as the gradient.
struct SummedGradient {
  const float* sum = nullptr;
  float scale = 1;
  float clip = 1;
};

struct DescentConstants {
  float rate, decay;
  float momentum = 0, inflow = 1;
  float lookahead = 1;  ///< This is the factor of the gradient in Nesterov's step.
  bool nesterov = false;
};

/// These are the constants by which m, the running mean of gradients, and v, the running mean of
/// their squares, follow the gradient g: m = beta1·m + inflow1·g and v = beta2·v + inflow2·g².
struct MomentConstants {
  float beta1, inflow1;
  float beta2, inflow2;
};

struct AdamConstants {
  MomentConstants moments;
  float rate, correction2_root, eps;
  float l2;    ///< This times the weight is added to the gradient.
  float keep;  ///< The weight is multiplied by this before the step.
};

struct LambConstants {
  MomentConstants moments;
  float correction1, correction2_root, eps, decay;
};

struct RmsPropConstants {
  float alpha, inflow, decay, momentum;
  /// These are factors of the gradient on its way into the momentum buffer, and of the step on its
  /// way out.
  float rate_in, rate_out;
  /// These are added to the mean square inside the square root, and to the root.
  float eps_in, eps_out;
};

/// A sum of squares is computed in blocks of this many elements: each block is summed by itself,
/// and then the sums of the blocks are added in order. A parameter may therefore be cut between two
/// blocks, but never inside a block, without a change of bits.
inline constexpr std::int64_t norm_block = 8192;

/// Weights and optimizer states have `count` elements. The bits of each element depend on that
/// element alone. Where the vectorised loops of PyTorch multiply and add with one rounding, these
/// functions do so, too.
struct UpdateKernels {
  /// Computes w = w - rate·(g + decay·w), where g is the gradient.
  void (*descend)(std::int64_t count, const DescentConstants&, const SummedGradient&, float* w);
  /// Computes h = g + decay·w from the gradient g, and then v = momentum·v + inflow·h. The step is
  /// w = w - rate·v or, if `nesterov` is set, w = w - rate·(lookahead·h + momentum·v).
  void (*descend_with_momentum)(std::int64_t count, const DescentConstants&, const SummedGradient&,
                                float* w, float* v);
  /// Updates `m` and `v` by MomentConstants, with l2·w added to the gradient, and then computes w =
  /// w·keep - rate·m / (sqrt(v)/correction2_root + eps).
  void (*adam)(std::int64_t count, const AdamConstants&, const SummedGradient&, float* w, float* m,
               float* v);
  /// Updates `w` by RMSprop. If `mean` is not null, the rule is "centered": the square of the mean
  /// gradient is subtracted from the mean square. `buffer` is the momentum buffer, and is null
  /// without momentum.
  void (*rmsprop)(std::int64_t count, const RmsPropConstants&, const SummedGradient&, float* w,
                  float* square, float* mean, float* buffer);
  /// Updates `m` and `v` by MomentConstants, and returns the squared norm of the directions
  /// m/correction1 / (sqrt(v)/correction2_root + eps) + decay·w.
  double (*lamb_moments)(std::int64_t count, const LambConstants&, const SummedGradient&,
                         const float* w, float* m, float* v);
  /// Computes the directions whose squared norm lamb_moments() returns.
  void (*lamb_directions)(std::int64_t count, const LambConstants&, const float* w, const float* m,
                          const float* v, float* directions);
  /// Computes w = w - rate·direction. The directions are computed a second time, which takes less
  /// time than keeping them in memory.
  void (*lamb_step)(std::int64_t count, const LambConstants&, float rate, float* w, const float* m,
                    const float* v);
  /// Returns the sum of the squares of scale·x, in double. Each block of `norm_block` elements is
  /// summed by itself, and then the sums of the blocks are added in order.
  double (*squared_norm)(std::int64_t count, float scale, const float* x);
};

}  // namespace penstock::graph
