#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The negative log-likelihood of class labels (torch.nn.NLLLoss). Inputs log_probabilities
/// [N,C,...] and labels i64 [N,...]; output [], or [N,...] without reduction. Attributes reduction
/// ("mean" over the labels that are not ignored, "sum", "none") and ignore_index (-100).
extern const Op nll_loss;
/// (labels [N,...], dloss) -> gradient of the log-probabilities [N,C,...]; attribute classes: C.
extern const Op nll_loss_gradient;

}  // namespace penstock::graph
