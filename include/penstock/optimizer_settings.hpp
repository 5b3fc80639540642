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
  double learning_rate = 0.01;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool dampen_first_step = false;
  bool keras_variant = false;
};

/// torch.optim.Adam: weight decay is added to the gradient.
struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool bias_correction = true;
};

/// torch.optim.AdamW: weight decay is decoupled.
struct AdamW {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool bias_correction = true;
};

/// torch.optim.RMSprop. With `tf_variant` it is TensorFlow's rule: eps is inside the root, the mean
/// square starts at one, and the learning rate is inside the momentum buffer.
struct RmsProp {
  double learning_rate = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  bool centered = false;
  bool tf_variant = false;
};

/// You et al., "Large Batch Optimization for Deep Learning" (LAMB), as PopTorch has it.
struct Lamb {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  std::optional<double> max_weight_norm = {};  ///< 65500 is the limit if there is none.
  bool bias_correction = true;
};

/// The settings of one rule. All that goes through every rule follows this list.
using OptimizerSettings = std::variant<Sgd, Adam, AdamW, RmsProp, Lamb>;

}  // namespace penstock
