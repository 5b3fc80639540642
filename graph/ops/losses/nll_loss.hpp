#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the negative log-likelihood of class labels (torch.nn.NLLLoss). The inputs are
/// log_probabilities [N,C,...] and labels i64 [N,...]; the output is [], or [N,...] without
/// reduction. The attributes are reduction ("mean" over the labels that are not ignored, "sum" or
/// "none") and ignore_index (-100 by default).
extern const Op nll_loss;
/// Maps (labels [N,...], dloss) to the gradient of the log-probabilities [N,C,...]; the attribute
/// classes is C.
extern const Op nll_loss_gradient;

}  // namespace penstock::graph
