#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// max(0, margin + |anchor - near| - |anchor - far|) for each row (torch.nn.TripletMarginLoss).
/// Attributes margin (1), above 0; p (2): the norm, 1 or 2; eps (1e-6), added to each difference;
/// swap (0): |near - far| counts where it is less than |anchor - far|, and for half of the gradient
/// where they are equal. Inputs anchor, near and far [N,D]; output [], or [N] without reduction;
/// attribute reduction.
extern const Op triplet_margin_loss;
/// (anchor, near, far, dloss) -> their gradients.
extern const Op triplet_margin_loss_gradient;

}  // namespace penstock::graph
