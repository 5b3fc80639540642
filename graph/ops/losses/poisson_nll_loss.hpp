#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes minus the log-probability of counts t under Poisson's distribution
/// (torch.nn.PoissonNLLLoss): exp(x) - t·x if x is the logarithm of the rate, which the attribute
/// log_input says (1 by default), and else x - t·log(x + eps) with the attribute eps (1e-8). With
/// the attribute full (0), Stirling's approximation of log(t!) is added where t > 1: t·log(t) - t +
/// log(2πt)/2. The inputs x and target have the same shape; the output is [], or of that shape
/// without reduction; the attribute reduction says which.
extern const Op poisson_nll_loss;
/// Maps (x, target, dloss) to dx.
extern const Op poisson_nll_loss_gradient;
/// Maps (x, target, dloss) to dtarget.
extern const Op poisson_nll_loss_target_gradient;

}  // namespace penstock::graph
