#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes max(0, margin + |anchor - near| - |anchor - far|) for each row
/// (torch.nn.TripletMarginLoss). The attributes are margin (1 by default), above 0; p (2), which is
/// the norm, 1 or 2; eps (1e-6), which is added to each difference; swap (0), with which |near -
/// far| counts where it is less than |anchor - far|, and for half of the gradient where they are
/// equal; and reduction. The inputs are anchor, near and far [N,D]; the output is [], or [N]
/// without reduction.
extern const Op triplet_margin_loss;
/// Maps (anchor, near, far, dloss) to their gradients.
extern const Op triplet_margin_loss_gradient;

}  // namespace penstock::graph
