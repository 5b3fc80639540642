// The settings of each optimizer rule: the constants that the rule has, with PyTorch's defaults.
// Plain values.
#pragma once

#include <optional>
#include <variant>

namespace penstock {

/// torch.optim.SGD: v = momentum v + (1 - dampening) g; w -= learning_rate v. `dampen_first_step`
/// is PopTorch's rule: dampening applies from the first step on, and without momentum too.
/// `keras_variant` is Keras's rule: v = momentum v + learning_rate g; w -= v, without dampening. It
/// gives the same weights as PyTorch's while the learning rate does not change.
struct Sgd {
  double learning_rate = 0.01;  ///< This is the step's size, 0 or more.
  double momentum = 0;          ///< This share of the velocity stays from step to step.
  double dampening = 0;         ///< This share of a gradient does not enter the velocity.
  double weight_decay = 0;      ///< So much of the weight is added to its gradient.
  bool nesterov = false;  ///< This looks one step ahead. It needs a momentum and no dampening.
  bool dampen_first_step = false;  ///< This is PopTorch's rule, see above.
  bool keras_variant = false;      ///< This is Keras's rule, see above.
};

/// torch.optim.Adam: weight decay is added to the gradient.
struct Adam {
  double learning_rate = 1e-3;  ///< This is the step's size, 0 or more.
  /// This share of the mean gradient stays, from 0 up to, but not including, 1.
  double beta1 = 0.9;
  /// This share of the mean square stays, from 0 up to, but not including, 1.
  double beta2 = 0.999;
  double eps = 1e-8;            ///< This is added to the root of the mean square.
  double weight_decay = 0;      ///< So much of the weight is added to its gradient.
  bool bias_correction = true;  ///< Means are divided by what has entered them so far.
};

/// torch.optim.AdamW: weight decay is decoupled.
struct AdamW {
  double learning_rate = 1e-3;  ///< This is the step's size, 0 or more.
  /// This share of the mean gradient stays, from 0 up to, but not including, 1.
  double beta1 = 0.9;
  /// This share of the mean square stays, from 0 up to, but not including, 1.
  double beta2 = 0.999;
  double eps = 1e-8;            ///< This is added to the root of the mean square.
  double weight_decay = 1e-2;   ///< A weight is multiplied by 1 - learning_rate·weight_decay.
  bool bias_correction = true;  ///< Means are divided by what has entered them so far.
};

/// torch.optim.RMSprop. With `tf_variant` it is TensorFlow's rule: eps is inside the root, the mean
/// square starts at one, and the learning rate is inside the momentum buffer.
struct RmsProp {
  double learning_rate = 1e-2;  ///< This is the step's size, 0 or more.
  /// This share of the mean square stays, from 0 up to, but not including, 1.
  double alpha = 0.99;
  double eps = 1e-8;        ///< This is added to the root, or, with `tf_variant`, under it.
  double momentum = 0;      ///< This share of the velocity stays from step to step.
  double weight_decay = 0;  ///< So much of the weight is added to its gradient.
  bool centered = false;    ///< The mean gradient's square is taken from the mean square.
  bool tf_variant = false;  ///< This is TensorFlow's rule, see above.
};

/// You et al., "Large Batch Optimization for Deep Learning" (LAMB), as PopTorch has it.
struct Lamb {
  double learning_rate = 1e-3;  ///< This is the step's size, 0 or more.
  /// This share of the mean gradient stays, from 0 up to, but not including, 1.
  double beta1 = 0.9;
  /// This share of the mean square stays, from 0 up to, but not including, 1.
  double beta2 = 0.999;
  double eps = 1e-8;                           ///< This is added to the root of the mean square.
  double weight_decay = 1e-2;                  ///< So much of the weight is added to its direction.
  std::optional<double> max_weight_norm = {};  ///< 65500 is the limit if there is none.
  bool bias_correction = true;  ///< Means are divided by what has entered them so far.
};

/// The settings of one rule. All that goes through every rule follows this list.
using OptimizerSettings = std::variant<Sgd, Adam, AdamW, RmsProp, Lamb>;

}  // namespace penstock
