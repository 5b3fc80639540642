// These losses say, element by element, how much two distributions differ, or how improbable counts
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
/// (torch.nn.PoissonNLLLoss). If the attribute log_input is 1, as by default, x is the logarithm of
/// the rate, and the loss is exp(x) - t·x. Otherwise x is the rate, and the loss is x - t·log(x +
/// eps), where the attribute eps is 1e-8 by default. If the attribute full (0 by default) is 1,
/// Stirling's approximation of log(t!) is added where t > 1: t·log(t) - t + log(2πt)/2. The inputs
/// x and target have the same shape; the output is [], or of that shape if the attribute reduction
/// is "none".
extern const Op poisson_nll_loss;
/// Maps (x, target, dloss) to dx.
extern const Op poisson_nll_loss_gradient;
/// Maps (x, target, dloss) to dtarget.
extern const Op poisson_nll_loss_target_gradient;

}  // namespace penstock::graph
