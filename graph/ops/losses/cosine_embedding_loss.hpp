#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// 1 - cos(a, b) for the rows whose target is 1, max(0, cos(a, b) - margin) for those where it is
/// -1, attribute margin (0) (torch.nn.CosineEmbeddingLoss); a target above 0 counts as 1, any other
/// as -1. Inputs a and b [N,D] and target f32 [N], a constant; output [], or [N] without reduction;
/// attribute reduction.
extern const Op cosine_embedding_loss;
/// (a, b, target, dloss) -> da, db.
extern const Op cosine_embedding_loss_gradient;

}  // namespace penstock::graph
