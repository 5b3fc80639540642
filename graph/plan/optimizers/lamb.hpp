#pragma once

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

/// You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes", as
/// PopTorch has it: with m' and v' as in Adam,
///   x = m' / (sqrt(v') + eps) + weight_decay w;  w -= learning_rate trust x,
/// where trust = min(|w|, max_weight_norm) / |x|, and 1 when either norm is 0. The norms are those
/// of the whole parameter that `update` is given.
extern const OptimizerRule lamb;

}  // namespace penstock::graph
