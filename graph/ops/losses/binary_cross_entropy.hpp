#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The cross-entropy between probabilities x and targets t, both from 0 to 1:
/// -t·log(x) - (1-t)·log(1-x), with logarithms of -100 or more (torch.nn.BCELoss). Inputs x and
/// target of the same shape; output [], or that shape without reduction; attribute reduction. An x
/// outside of 0 to 1 is refused: "x 1.5 at sample 3: expected 0 to 1".
extern const Op binary_cross_entropy;
/// (x, target, dloss) -> dx = dloss·(x - t)/max(x·(1-x), 1e-12).
extern const Op binary_cross_entropy_gradient;
/// (x, target, dloss) -> dtarget.
extern const Op binary_cross_entropy_target_gradient;

/// Takes logits x, of probabilities 1/(1 + exp(-x)) (torch.nn.BCEWithLogitsLoss).
extern const Op binary_cross_entropy_with_logits;
/// (x, target, dloss) -> dx = dloss·(1/(1 + exp(-x)) - t).
extern const Op binary_cross_entropy_with_logits_gradient;
/// (x, target, dloss) -> dtarget = -dloss·x.
extern const Op binary_cross_entropy_with_logits_target_gradient;

}  // namespace penstock::graph
