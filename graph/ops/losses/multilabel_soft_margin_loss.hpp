#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// binary_cross_entropy_with_logits, averaged over each row's classes
/// (torch.nn.MultiLabelSoftMarginLoss). Inputs x and target [N,C], a target of 1 where the class
/// belongs to the sample, else 0, a constant; output [], or [N] without reduction; attribute
/// reduction.
extern const Op multilabel_soft_margin_loss;
/// (x, target, dloss) -> dx.
extern const Op multilabel_soft_margin_loss_gradient;

}  // namespace penstock::graph
