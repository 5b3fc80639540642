#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = x·Wᵀ + b (torch.nn.Linear). Inputs x [N,K], weight [M,K] and, if there is one, bias [M];
/// output [N,M].
extern const Op linear;
/// (dy [N,M], weight [M,K]) -> dx = dy·W [N,K].
extern const Op linear_input_gradient;
/// (x [N,K], dy [N,M]) -> dW = dyᵀ·x [M,K].
extern const Op linear_weight_gradient;

}  // namespace penstock::graph
