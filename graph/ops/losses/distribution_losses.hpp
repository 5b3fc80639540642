// These losses say, element by element, how unlike two distributions are, or how unlikely counts
// are.
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
