#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes max(0, margin - target·(a - b)): a should rank higher than b where the target is 1, and
/// lower where it is -1 (torch.nn.MarginRankingLoss). The inputs a, b and target have the same
/// shape, and the target is a constant; the output is [], or of that shape without reduction. The
/// attributes are margin (0 by default) and reduction.
extern const Op margin_ranking_loss;
/// Maps (a, b, target, dloss) to da; b's gradient is -da.
extern const Op margin_ranking_loss_gradient;

}  // namespace penstock::graph
