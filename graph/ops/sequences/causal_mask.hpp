#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// x [...,S,S] with -inf above the diagonal: attention scores in which no position sees a later
/// one.
extern const Op causal_mask;
/// (dy) -> dx = dy on and below the diagonal, 0 above.
extern const Op causal_mask_gradient;

}  // namespace penstock::graph
