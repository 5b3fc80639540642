#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes a loss of any tensor: the mean or the sum [] of its elements, or the tensor itself, as the
/// attribute reduction says ("mean", "sum" or "none").
extern const Op identity_loss;
/// Maps (dloss []) to dx, whose shape is the attribute `shape`. The attribute reduction is "mean"
/// or "sum".
extern const Op identity_loss_gradient;

}  // namespace penstock::graph
