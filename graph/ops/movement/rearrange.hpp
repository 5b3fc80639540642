// These ops give the elements of their input back, in another shape or order.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies x, of any shape; its gradient is dy itself.
extern const Op identity;

/// Gives the elements of x the shape of the attribute `shape`. A dimension of 0 keeps that of x at
/// the same position, and one may be -1, for whatever is left.
extern const Op reshape;

/// Merges the axes from the attribute start_axis (1 by default) on into one: [N,C,H,W] becomes
/// [N,C·H·W].
extern const Op flatten;

/// Makes axis axes[i] of x axis i of the output; the attribute `axes` is a permutation of the axes
/// of x.
extern const Op transpose;

}  // namespace penstock::graph
