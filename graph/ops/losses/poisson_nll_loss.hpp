#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Minus the log-probability of counts t under Poisson's distribution (torch.nn.PoissonNLLLoss):
/// exp(x) - t·x where x is the rate's logarithm, attribute log_input (1), else x - t·log(x + eps),
/// attribute eps (1e-8). Attribute full (0) adds Stirling's approximation of log(t!), t·log(t) - t
/// + log(2πt)/2, where t > 1. Inputs x and target of the same shape; output [], or that shape
/// without reduction; attribute reduction.
extern const Op poisson_nll_loss;
/// (x, target, dloss) -> dx.
extern const Op poisson_nll_loss_gradient;
/// (x, target, dloss) -> dtarget.
extern const Op poisson_nll_loss_target_gradient;

}  // namespace penstock::graph
