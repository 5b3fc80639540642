#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the cross-entropy between the softmax of x over axis 1 and class labels
/// (torch.nn.CrossEntropyLoss). The inputs are x [N,C,...] and labels i64 [N,...]. The outputs are
/// the loss, [] or [N,...] without reduction, and the log-probabilities [N,C,...]. The attributes
/// are those of nll_loss, and label_smoothing e (0 by default): the target distribution is 1-e for
/// the label plus e/C for every class.
extern const Op cross_entropy;
/// Maps (log_probabilities, labels, dloss) to dx = dloss·(exp(log_probabilities) - target).
extern const Op cross_entropy_gradient;

}  // namespace penstock::graph
