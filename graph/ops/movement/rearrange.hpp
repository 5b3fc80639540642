// These ops return the elements of their input in another shape or order. The elements may be of
// any type, except for those of the identity, which are f32.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies x, which may have any shape. The gradient of x is dy itself.
extern const Op identity;

/// Copies x, which may have any shape, and counts as a constant for training.
extern const Op stop_gradient;

/// Returns the elements of x in the shape that the attribute `shape` gives. A 0 in the attribute
/// stands for the dimension of x at the same position, and one -1 for the size that is left.
extern const Op reshape;

/// Merges the axes from start_axis to end_axis of x into one axis. The attributes are 1 and -1 by
/// default, which makes [N,C·H·W] of [N,C,H,W].
extern const Op flatten;

/// Axis i of the output is axis axes[i] of x. The attribute `axes` is a permutation of the axes of
/// x, where a negative axis counts from the end.
extern const Op transpose;

}  // namespace penstock::graph
