#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The cross-entropy between the softmax of x over axis 1 and class labels
/// (torch.nn.CrossEntropyLoss). Inputs x [N,C,...] and labels i64 [N,...]; outputs the loss: [], or
/// [N,...] without reduction, and the log-probabilities [N,C,...]. Attributes as for nll_loss, and
/// label_smoothing e (0): the target distribution is 1-e for the label plus e/C for every class.
extern const Op cross_entropy;
/// (log_probabilities, labels, dloss) -> dx = dloss·(exp(log_probabilities) - target).
extern const Op cross_entropy_gradient;

}  // namespace penstock::graph
