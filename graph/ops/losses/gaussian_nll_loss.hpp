#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the negative log-likelihood of targets under normal distributions with the means x and
/// the variances `variance`: (log v + (x - target)²/v)/2 (torch.nn.GaussianNLLLoss), where v is the
/// variance or, if that is less, the attribute eps (1e-6 by default), which is above 0. The inputs
/// x, target and variance have the same shape; the output is [], or of that shape without
/// reduction. If the attribute full (0 by default) is 1, log(2π)/2 is added. The kernel throws
/// Error invalid_data for a variance below 0: "variance -1 at sample 3: expected 0 or more".
extern const Op gaussian_nll_loss;
/// Maps (x, target, variance, dloss) to dx; the target's gradient is -dx.
extern const Op gaussian_nll_loss_gradient;
/// Maps (x, target, variance, dloss) to dvariance = dloss·(1 - (x - target)²/v)/2v, also where v is
/// eps, as in PyTorch.
extern const Op gaussian_nll_loss_variance_gradient;

}  // namespace penstock::graph
