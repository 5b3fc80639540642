#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The elements of x in attribute `shape`. A dimension 0 keeps x's at that position, one may be -1:
/// whatever is left.
extern const Op reshape;

/// Merges the axes from attribute start_axis (1) on into one: [N,C,H,W] -> [N,C·H·W].
extern const Op flatten;

}  // namespace penstock::graph
