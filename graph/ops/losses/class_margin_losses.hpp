// These losses want the scores [N,C] of the right classes to be larger than those of the other
// classes by a margin. Their terms are [N].
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes sum(max(0, margin - x[y] + x[j])^p)/C over all classes j but y, where y is the label
/// (torch.nn.MultiMarginLoss). The inputs are x [N,C], labels i64 [N] and, if there is one, weight
/// [C], by whose element y the term is multiplied. The output is [], or [N] without reduction. The
/// attributes are margin (1 by default), p (1), which is 1 or 2, and reduction. The weight gets no
/// gradient, and a mean is divided by N.
extern const Op multi_margin_loss;
/// Maps (x, labels, dloss, weight if there is one) to dx.
extern const Op multi_margin_loss_gradient;

/// Computes sum(max(0, 1 - x[y] + x[j]))/C over all labels y of a sample and all classes j that are
/// not among these labels (torch.nn.MultiLabelMarginLoss). The inputs are x [N,C] and labels i64
/// [N,C]; the labels of a sample end before the first -1. The output is [], or [N] without
/// reduction; the attribute is reduction.
extern const Op multilabel_margin_loss;
/// Maps (x, labels, dloss) to dx.
extern const Op multilabel_margin_loss_gradient;

}  // namespace penstock::graph
