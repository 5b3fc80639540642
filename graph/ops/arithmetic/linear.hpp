#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x·Wᵀ + b over the last axis of x (torch.nn.Linear). The inputs are x [N,...,K],
/// weight [M,K] and, if there is one, bias [M]; the output is [N,...,M]. The attribute relu (0 by
/// default) says whether negative results become 0.
extern const Op linear;
/// Maps (dy [N,...,M], weight [M,K]) to dx = dy·W [N,...,K].
extern const Op linear_input_gradient;
/// Maps (x [N,...,K], dy [N,...,M]) to dW = dyᵀ·x [M,K], where x and dy are matrices of as many
/// rows as all axes but the last one have together.
extern const Op linear_weight_gradient;

}  // namespace penstock::graph
