#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Kullback and Leibler's divergence of target probabilities t from log-probabilities x, element by
/// element: t·(log(t) - x), 0 for t = 0; with attribute log_target (0) the target holds log(t)
/// (torch.nn.KLDivLoss). Inputs x and target of the same shape; output [], or that shape without
/// reduction; attribute reduction, where "mean" is over all elements.
extern const Op kl_div_loss;
/// (x, target, dloss) -> dx = -dloss·t.
extern const Op kl_div_loss_gradient;
/// (x, target, dloss) -> dtarget.
extern const Op kl_div_loss_target_gradient;

}  // namespace penstock::graph
