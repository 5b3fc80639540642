#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// x where the target is 1, max(0, margin - x) where it is -1, attribute margin (1)
/// (torch.nn.HingeEmbeddingLoss); a target above 0 counts as 1, any other as -1. Inputs x and
/// target of the same shape, the target a constant; output [], or that shape without reduction;
/// attribute reduction.
extern const Op hinge_embedding_loss;
/// (x, target, dloss) -> dx.
extern const Op hinge_embedding_loss_gradient;

/// log(1 + exp(-target·x)) for targets of 1 and -1 (torch.nn.SoftMarginLoss), with the same inputs,
/// output and attribute.
extern const Op soft_margin_loss;
/// (x, target, dloss) -> dx = -dloss·target/(1 + exp(target·x)).
extern const Op soft_margin_loss_gradient;
/// (x, target, dloss) -> dtarget = -dloss·x/(1 + exp(target·x)).
extern const Op soft_margin_loss_target_gradient;

}  // namespace penstock::graph
