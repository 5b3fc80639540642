#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies x [...,S,S], but with -inf above the diagonals. If x has attention scores, no position
/// then attends to a later position.
extern const Op causal_mask;
/// Maps (dy) to dx, which is dy on and below the diagonal, and 0 above it.
extern const Op causal_mask_gradient;

}  // namespace penstock::graph
