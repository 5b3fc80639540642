#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The squared differences (x - target)², as attribute reduction ("mean", "sum", "none") says.
/// Inputs x and target of the same shape; output [], or that shape without reduction.
extern const Op mse_loss;
/// (x, target, dloss) -> dx; the target's gradient is -dx.
extern const Op mse_loss_gradient;

/// The absolute differences |x - target|, with the same inputs, output and attribute.
extern const Op l1_loss;
/// (x, target, dloss) -> dx, 0 where x = target; the target's gradient is -dx.
extern const Op l1_loss_gradient;

/// d²/2β where |d| < β, |d| - β/2 elsewhere, of the differences d = x - target
/// (torch.nn.SmoothL1Loss); attribute beta (1), 0 or more.
extern const Op smooth_l1_loss;
/// (x, target, dloss) -> dx; the target's gradient is -dx.
extern const Op smooth_l1_loss_gradient;

}  // namespace penstock::graph
