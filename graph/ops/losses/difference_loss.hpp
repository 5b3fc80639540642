#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the squared differences (x - target)², or their mean or their sum, as the attribute
/// reduction says ("none", "mean" or "sum"). The inputs x and target have the same shape; the
/// output is [], or of that shape without reduction.
extern const Op mse_loss;
/// Maps (x, target, dloss) to dx; the target's gradient is -dx.
extern const Op mse_loss_gradient;

/// Computes the absolute differences |x - target|. The inputs, the output and the attribute
/// reduction are those of mse_loss.
extern const Op l1_loss;
/// Maps (x, target, dloss) to dx, which is 0 where x = target; the target's gradient is -dx.
extern const Op l1_loss_gradient;

/// Computes d²/2β where |d| < β, and |d| - β/2 elsewhere, of the differences d = x - target
/// (torch.nn.SmoothL1Loss). The attribute beta is 1 by default, and 0 or more. All else is as in
/// mse_loss.
extern const Op smooth_l1_loss;
/// Maps (x, target, dloss) to dx; the target's gradient is -dx.
extern const Op smooth_l1_loss_gradient;

/// Computes d²/2 where |d| <= δ, and δ·(|d| - δ/2) elsewhere, of the differences d = x - target
/// (torch.nn.HuberLoss). The attribute delta is 1 by default, and above 0.
extern const Op huber_loss;
/// Maps (x, target, dloss) to dx; the target's gradient is -dx.
extern const Op huber_loss_gradient;

}  // namespace penstock::graph
