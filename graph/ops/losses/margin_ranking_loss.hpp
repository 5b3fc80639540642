#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// max(0, margin - target·(a - b)): a should rank higher than b where the target is 1, lower where
/// it is -1; attribute margin (0) (torch.nn.MarginRankingLoss). Inputs a, b and target of the same
/// shape, the target a constant; output [], or that shape without reduction; attribute reduction.
extern const Op margin_ranking_loss;
/// (a, b, target, dloss) -> da; b's gradient is -da.
extern const Op margin_ranking_loss_gradient;

}  // namespace penstock::graph
