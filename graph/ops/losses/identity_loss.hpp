#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes any tensor a loss: the mean or the sum [] of its elements, or the tensor itself, as the
/// attribute reduction says ("mean", "sum" or "none").
extern const Op identity_loss;
/// Maps (dloss []) to dx of the attribute `shape`, for "mean" and "sum".
extern const Op identity_loss_gradient;

}  // namespace penstock::graph
