#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes Kullback and Leibler's divergence of target probabilities t from log-probabilities x,
/// element by element: t·(log(t) - x), which is 0 for t = 0 (torch.nn.KLDivLoss). With the
/// attribute log_target (0 by default) the target holds log(t). The inputs x and target have the
/// same shape; the output is [], or of that shape without reduction. The "mean" of the attribute
/// reduction is over all elements.
extern const Op kl_div_loss;
/// Maps (x, target, dloss) to dx = -dloss·t.
extern const Op kl_div_loss_gradient;
/// Maps (x, target, dloss) to dtarget.
extern const Op kl_div_loss_target_gradient;

}  // namespace penstock::graph
