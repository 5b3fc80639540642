// This loss says how far two rows are from each other, by the angle between them.
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

}  // namespace penstock::graph
