// These losses compare scores [N,C,...] of classes with labels [N,...], as class_labels.hpp
// describes them.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the negative log-likelihood of class labels (torch.nn.NLLLoss). The inputs are
/// log_probabilities [N,C,...], labels i64 [N,...] and, if there is one, weight [C]; the output is
/// [], or [N,...] without reduction. The weight gets no gradient. The attributes are reduction
/// ("mean" over the labels that are not ignored, "sum" or "none"), ignore_index (-100 by default),
/// and class_axis, the axis of the scores along which the classes are (1 by default; -1 is for
/// scores [N,...,C]).
extern const Op nll_loss;
/// Maps (labels [N,...], dloss, weight if there is one) to the gradient of the log-probabilities
/// [N,C,...]; the attribute classes is C.
extern const Op nll_loss_gradient;

/// Computes the cross-entropy between the softmax of x over the class axis and class labels
/// (torch.nn.CrossEntropyLoss). The inputs are x [N,C,...], labels i64 [N,...] and, if there is
/// one, weight [C]. The outputs are the loss, [] or [N,...] without reduction, and the
/// log-probabilities [N,C,...]. The attributes are those of nll_loss, and label_smoothing e (0 by
/// default): the target distribution is 1-e for the label plus e/C for every class. If there is a
/// weight, the target of each class is multiplied by the weight of that class.
extern const Op cross_entropy;
/// Maps (log_probabilities, labels, dloss, weight if there is one) to dx =
/// dloss·(exp(log_probabilities)·sum(t) - t), where t is the target distribution.
extern const Op cross_entropy_gradient;

}  // namespace penstock::graph
