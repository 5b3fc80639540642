// Each optimizer rule has a struct of settings: its constants, with PyTorch's defaults. The structs
// are plain values.
#pragma once

#include <optional>
#include <variant>

#include "penstock/standard.hpp"

namespace penstock {

/// Is the rule of torch.optim.SGD: v = momentum v + (1 - dampening) g; w -= learning_rate v.
struct Sgd {
  double learning_rate = 0.01;  ///< Scales the step; 0 or more.
  double momentum = 0;          ///< Is the share of the velocity that stays from step to step.
  double dampening = 0;         ///< Is the share of a gradient that does not enter the velocity.
  double weight_decay = 0;      ///< Is the share of a weight that is added to its gradient.
  /// Says whether the update looks one step ahead, which needs a momentum and no dampening.
  bool nesterov = false;
  /// Selects PopTorch's rule: dampening applies from the first step on, and also without momentum.
  bool dampen_first_step = false;
  /// Selects Keras's rule, v = momentum v + learning_rate g; w -= v, which has no dampening. It
  /// gives the same weights as PyTorch's rule while the learning rate does not change.
  bool keras_variant = false;
};

/// Is the rule of torch.optim.Adam, where weight decay is added to the gradient.
struct Adam {
  double learning_rate = 1e-3;  ///< Scales the step; 0 or more.
  /// Is the share of the mean gradient that stays from step to step; from 0 to below 1.
  double beta1 = 0.9;
  /// Is the share of the mean square that stays from step to step; from 0 to below 1.
  double beta2 = 0.999;
  double eps = 1e-8;        ///< Is added to the root of the mean square.
  double weight_decay = 0;  ///< Is the share of a weight that is added to its gradient.
  /// Says whether the mean gradient is divided by 1 - beta1^t and the mean square by 1 - beta2^t at
  /// update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// Is the rule of torch.optim.AdamW, where weight decay is applied to the weight itself.
struct AdamW {
  double learning_rate = 1e-3;  ///< Scales the step; 0 or more.
  /// Is the share of the mean gradient that stays from step to step; from 0 to below 1.
  double beta1 = 0.9;
  /// Is the share of the mean square that stays from step to step; from 0 to below 1.
  double beta2 = 0.999;
  double eps = 1e-8;           ///< Is added to the root of the mean square.
  double weight_decay = 1e-2;  ///< Multiplies a weight by 1 - learning_rate·weight_decay.
  /// Says whether the mean gradient is divided by 1 - beta1^t and the mean square by 1 - beta2^t at
  /// update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// Is the rule of torch.optim.RMSprop.
struct RmsProp {
  double learning_rate = 1e-2;  ///< Scales the step; 0 or more.
  /// Is the share of the mean square that stays from step to step; from 0 to below 1.
  double alpha = 0.99;
  /// Is added to the root of the mean square or, with `tf_variant`, under the root.
  double eps = 1e-8;
  double momentum = 0;      ///< Is the share of the velocity that stays from step to step.
  double weight_decay = 0;  ///< Is the share of a weight that is added to its gradient.
  /// Says whether the square of the mean gradient is subtracted from the mean square.
  bool centered = false;
  /// Selects TensorFlow's rule: eps is under the root, the mean square starts at one, and the
  /// learning rate is a factor inside the velocity.
  bool tf_variant = false;
};

/// Is the rule LAMB as PopTorch has it (You et al., "Large Batch Optimization for Deep Learning").
struct Lamb {
  double learning_rate = 1e-3;  ///< Scales the step; 0 or more.
  /// Is the share of the mean gradient that stays from step to step; from 0 to below 1.
  double beta1 = 0.9;
  /// Is the share of the mean square that stays from step to step; from 0 to below 1.
  double beta2 = 0.999;
  double eps = 1e-8;  ///< Is added to the root of the mean square.
  /// Is the share of a weight that is added to the direction of its step.
  double weight_decay = 1e-2;
  /// Limits the norm of the weights by which a step is scaled. The limit is 65500 unless it is set.
  std::optional<double> max_weight_norm = {};
  /// Says whether the mean gradient is divided by 1 - beta1^t and the mean square by 1 - beta2^t at
  /// update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// Holds the settings of one rule. Functions that go through all rules do so in the order of this
/// list.
using OptimizerSettings = std::variant<Sgd, Adam, AdamW, RmsProp, Lamb>;

}  // namespace penstock
