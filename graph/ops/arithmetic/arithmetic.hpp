// These ops compute with two tensors, or with a tensor and a number, element by element, or make a
// tensor of one number.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes a + b, and broadcasts a and b as NumPy does.
extern const Op add;
/// Computes a - b, and broadcasts a and b as NumPy does.
extern const Op sub;
/// Computes a·b, and broadcasts a and b as NumPy does.
extern const Op mul;

/// Computes a/b, and broadcasts a and b as NumPy does.
extern const Op div;
/// Computes the smaller of a and b, or NaN if one of them is NaN, and broadcasts as NumPy does. The
/// gradient goes to the one that is the result, and in halves to both if they are equal.
extern const Op minimum;
/// Computes the larger of a and b, and does with NaN and with the gradient what minimum does.
extern const Op maximum;
/// Computes 1 where a and b are equal, and 0 elsewhere. Comparisons broadcast a and b as NumPy
/// does, and no gradient goes back from them.
extern const Op equal;
/// Computes 1 where a is less than b, and 0 elsewhere.
extern const Op less;
/// Computes 1 where a is not above b, and 0 elsewhere.
extern const Op less_equal;
/// Maps (condition, a, b), which are broadcast as NumPy does, to a where the condition is not 0,
/// and to b elsewhere. The condition has no gradient.
extern const Op where;

/// Computes y = factor·x. The attribute factor is 1 by default; x may have any shape.
extern const Op scale;

/// Makes a tensor whose elements are all one number. The op has no inputs. The attributes are
/// `shape` (integers), `value` (real) and `loss_scaled` (0 by default). If loss_scaled is 1, the
/// value is multiplied by the run's loss scale, with which the gradient of the loss begins.
extern const Op fill;

}  // namespace penstock::graph
