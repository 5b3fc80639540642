#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes any tensor a loss: its elements' mean or sum [], or itself, as attribute reduction
/// ("mean", "sum", "none") says.
extern const Op identity_loss;
/// (dloss []) -> dx of attribute `shape`, for "mean" and "sum".
extern const Op identity_loss_gradient;

}  // namespace penstock::graph
