#pragma once

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

/// Stochastic gradient descent as torch.optim.SGD:
///   g += weight_decay w;  v = momentum v + (1 - dampening) g;  w -= learning_rate v,
/// with `nesterov` w -= learning_rate (g + momentum v). As in PyTorch the first step is not
/// dampened, and without momentum (v = g, no state) none is. `dampen_first_step` gives PopTorch's
/// result instead: dampening applies to every step, with momentum or without. `keras_variant` is
/// tf.keras.optimizers.SGD, the learning rate of each step inside the buffer:
///   v = momentum v + learning_rate g;  w -= v,  with `nesterov` w -= momentum v + learning_rate g.
extern const OptimizerRule sgd;

}  // namespace penstock::graph
