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

/// Computes y = factor·x. The attribute factor is 1 by default; x may have any shape.
extern const Op scale;

/// Makes a tensor whose elements are all one number. The op has no inputs. The attributes are
/// `shape` (integers), `value` (real) and `loss_scaled` (0 by default). If loss_scaled is 1, the
/// value is multiplied by the run's loss scale, with which the gradient of the loss begins.
extern const Op fill;

}  // namespace penstock::graph
