// These losses are the cross-entropy of classes, each of which is true or false independently of
// the others.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the cross-entropy between probabilities x and targets t, both from 0 to 1: -t·log(x) -
/// (1-t)·log(1-x), where a logarithm below -100 counts as -100 (torch.nn.BCELoss). The inputs x and
/// target have the same shape; the output is [], or of that shape without reduction; the attribute
/// is reduction. The kernel throws Error invalid_data for an x outside of 0 to 1: "x 1.5 at sample
/// 3: expected 0 to 1".
extern const Op binary_cross_entropy;
/// Maps (x, target, dloss) to dx = dloss·(x - t)/max(x·(1-x), 1e-12).
extern const Op binary_cross_entropy_gradient;
/// Maps (x, target, dloss) to dtarget.
extern const Op binary_cross_entropy_target_gradient;

/// Computes binary_cross_entropy of logits x, whose probabilities are 1/(1 + exp(-x))
/// (torch.nn.BCEWithLogitsLoss).
extern const Op binary_cross_entropy_with_logits;
/// Maps (x, target, dloss) to dx = dloss·(1/(1 + exp(-x)) - t).
extern const Op binary_cross_entropy_with_logits_gradient;
/// Maps (x, target, dloss) to dtarget = -dloss·x.
extern const Op binary_cross_entropy_with_logits_target_gradient;

/// Computes binary_cross_entropy_with_logits, averaged over each row's classes
/// (torch.nn.MultiLabelSoftMarginLoss). The inputs are x and target [N,C]; a target, which is a
/// constant, is 1 where the class belongs to the sample, and else 0. The output is [], or [N]
/// without reduction; the attribute is reduction.
extern const Op multilabel_soft_margin_loss;
/// Maps (x, target, dloss) to dx.
extern const Op multilabel_soft_margin_loss_gradient;

}  // namespace penstock::graph
