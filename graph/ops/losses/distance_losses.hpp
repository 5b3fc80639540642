// These losses say how far rows are from each other: by the angle between two rows, or by the
// distances of two rows from an anchor.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes 1 - cos(a, b) for the rows whose target is 1, and max(0, cos(a, b) - margin) for the
/// rows whose target is -1 (torch.nn.CosineEmbeddingLoss). For any other target the term is 0, as
/// in PyTorch. The inputs are a and b [N,D] and target f32 [N], a constant; the output is [], or
/// [N] without reduction. The attributes are margin (0 by default) and reduction.
extern const Op cosine_embedding_loss;
/// Maps (a, b, target, dloss) to da, db.
extern const Op cosine_embedding_loss_gradient;

/// Computes max(0, margin +
/// anchor - near
/// -
/// anchor - far
/// ) for each row (torch.nn.TripletMarginLoss). The attributes are margin (1 by default), above 0;
/// p (2), which is the norm, 1 or 2; eps (1e-6), which is added to each difference; swap (0); and
/// reduction. If swap is 1,
/// near - far
/// takes the place of
/// anchor - far
/// where
/// near - far
/// is less; where the two are equal, each gets half of the gradient. The inputs are anchor, near
/// and far [N,D]; the output is [], or [N] without reduction.
extern const Op triplet_margin_loss;
/// Maps (anchor, near, far, dloss) to the gradients of anchor, near and far.
extern const Op triplet_margin_loss_gradient;

}  // namespace penstock::graph
