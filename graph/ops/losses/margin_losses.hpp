// These losses are computed, element by element, from a target of 1 or -1 and from a score, or from
// the difference of two scores.
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

/// Computes x where the target is 1, and max(0, margin - x) where it is -1
/// (torch.nn.HingeEmbeddingLoss). For any other target the term is the sum of both, as in PyTorch.
/// The inputs x and target have the same shape, and the target is a constant; the output is [], or
/// of that shape without reduction. The attributes are margin (1 by default) and reduction.
extern const Op hinge_embedding_loss;
/// Maps (x, target, dloss) to dx.
extern const Op hinge_embedding_loss_gradient;

/// Computes log(1 + exp(-target·x)) for targets of 1 and -1 (torch.nn.SoftMarginLoss). The inputs x
/// and target have the same shape; the output is [], or of that shape without reduction. The
/// attribute is reduction.
extern const Op soft_margin_loss;
/// Maps (x, target, dloss) to dx = -dloss·target/(1 + exp(target·x)), divided by the number of
/// elements if the reduction is "mean".
extern const Op soft_margin_loss_gradient;
/// Maps (x, target, dloss) to dtarget = -dloss·x/(1 + exp(target·x)), divided in the same way.
extern const Op soft_margin_loss_target_gradient;

}  // namespace penstock::graph
