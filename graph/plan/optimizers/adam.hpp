#pragma once

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

/// Kingma and Ba, "Adam: A Method for Stochastic Optimization", as torch.optim.Adam:
///   g += weight_decay w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
///   w -= learning_rate m' / (sqrt(v') + eps),
/// where m' = m / (1 - beta1^step), v' = v / (1 - beta2^step) with `bias_correction`, else m and v.
extern const OptimizerRule adam;
/// Loshchilov and Hutter, "Decoupled Weight Decay Regularization", as torch.optim.AdamW: Adam, with
/// w *= 1 - learning_rate weight_decay in place of the decay added to the gradient. (PopTorch's
/// AdamW corrects the bias even when asked not to; this one does as it is told.)
extern const OptimizerRule adamw;

}  // namespace penstock::graph
