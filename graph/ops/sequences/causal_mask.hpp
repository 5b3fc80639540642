#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies x [...,S,S] with -inf above the diagonal: these are attention scores in which no position
/// sees a later one.
extern const Op causal_mask;
/// Maps (dy) to dx, which is dy on and below the diagonal, and 0 above it.
extern const Op causal_mask_gradient;

}  // namespace penstock::graph
