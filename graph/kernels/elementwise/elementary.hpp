// ElementaryKernels compute elementary functions, element by element. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// The result `y` of a function may be written over its operand. The results are those of C's
/// functions to about one unit in the last place.
struct ElementaryKernels {
  using Function = void (*)(std::int64_t count, const float* x, float* y);

  Function abs;
  Function exp;
  Function log;
  Function sqrt;
  Function reciprocal;  ///< Computes 1/x.
  Function rsqrt;       ///< Computes 1/sqrt(x).
  /// Computes sin x. Beyond 2^30, where neighbouring floats are further apart than a whole period,
  /// the result loses digits; so does that of `cos`.
  Function sin;
  Function cos;
  Function erf;
  Function floor;
  Function ceil;
  Function round;  ///< Rounds to the nearest integer, and halves to the even one.
  Function sign;   ///< Computes 1 above 0, -1 below 0, and 0 elsewhere, also for a NaN.

  /// Computes x to the power `exponent`, as C's pow() does, except that the power of a negative
  /// zero is never negative.
  void (*pow)(std::int64_t count, double exponent, const float* x, float* y);
  /// Computes x where it is from `low` to `high`, else the bound that is nearer; a NaN stays one.
  void (*clamp)(std::int64_t count, float low, float high, const float* x, float* y);
  /// Computes dx, which is dy where x is from `low` to `high`, and 0 elsewhere. `dx` may be written
  /// over `x` or `dy`.
  void (*clamp_gradient)(std::int64_t count, float low, float high, const float* x, const float* dy,
                         float* dx);
};

}  // namespace penstock::graph
