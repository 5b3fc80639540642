#pragma once

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

/// Hinton's RMSprop as torch.optim.RMSprop:
///   g += weight_decay w;  s = alpha s + (1 - alpha) g^2;  x = g / (sqrt(s) + eps),
/// with `centered` a = alpha a + (1 - alpha) g and sqrt(s - a^2) in place of sqrt(s) (0 where
/// rounding makes it negative); with momentum
///   u = momentum u + x;  w -= learning_rate u,  else w -= learning_rate x.
/// `tf_variant` is TensorFlow's: x = g / sqrt(s + eps), s starts at 1, and the learning rate goes
/// into the buffer: u = momentum u + learning_rate x;  w -= u.
extern const OptimizerRule rmsprop;

}  // namespace penstock::graph
