// This loss says whether one row is nearer to an anchor than another row is, and by how much.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes max(0, margin + |anchor - near| - |anchor - far|) for each row
/// (torch.nn.TripletMarginLoss). The attributes are margin (1 by default), above 0; p (2), which is
/// the norm, 1 or 2; eps (1e-6), which is added to each difference; swap (0); and reduction. If
/// swap is 1, |near - far| takes the place of |anchor - far| where |near - far| is less; where the
/// two are equal, each gets half of the gradient. The inputs are anchor, near and far [N,D]; the
/// output is [], or [N] without reduction.
extern const Op triplet_margin_loss;
/// Maps (anchor, near, far, dloss) to the gradients of anchor, near and far.
extern const Op triplet_margin_loss_gradient;

}  // namespace penstock::graph
