// These ops are elementary functions of one tensor, which may have any shape. They work element by
// element.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

extern const Op abs;         ///< Computes y = |x|. The gradient at 0 is 0.
extern const Op exp;         ///< Computes y = exp(x).
extern const Op log;         ///< Computes y = log(x), which is NaN below 0.
extern const Op sqrt;        ///< Computes y = √x, which is NaN below 0.
extern const Op rsqrt;       ///< Computes y = 1/√x.
extern const Op reciprocal;  ///< Computes y = 1/x.
extern const Op sin;         ///< Computes y = sin(x).
extern const Op cos;         ///< Computes y = cos(x).
extern const Op erf;         ///< Computes y = erf(x).
/// Computes the largest integer that is not above x. No gradient goes back to x from this op, nor
/// from ceil, round and sign.
extern const Op floor;
extern const Op ceil;   ///< Computes the smallest integer that is not below x.
extern const Op round;  ///< Rounds x, and halves to the even integer.
extern const Op sign;   ///< Computes 1 above 0, -1 below 0, and 0 elsewhere.

/// Computes y = x^exponent; the attribute exponent is 1 by default. A negative x has a power only
/// if the exponent is an integer.
extern const Op pow;

/// Computes x where it is from `low` to `high`, else the bound that is nearer. The attributes low
/// and high are the smallest and the largest f32 by default.
extern const Op clamp;
/// Maps (x, dy) to dx, which is dy where x is from `low` to `high`, and 0 elsewhere.
extern const Op clamp_gradient;

}  // namespace penstock::graph
