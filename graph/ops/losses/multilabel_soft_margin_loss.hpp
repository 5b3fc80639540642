#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes binary_cross_entropy_with_logits, averaged over each row's classes
/// (torch.nn.MultiLabelSoftMarginLoss). The inputs are x and target [N,C]; a target, which is a
/// constant, is 1 where the class belongs to the sample, and else 0. The output is [], or [N]
/// without reduction; the attribute is reduction.
extern const Op multilabel_soft_margin_loss;
/// Maps (x, target, dloss) to dx.
extern const Op multilabel_soft_margin_loss_gradient;

}  // namespace penstock::graph
