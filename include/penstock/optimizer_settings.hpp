// Each optimizer rule has a struct of settings: its constants, with PyTorch's defaults. The structs
// are plain values.
#pragma once

#include <optional>
#include <variant>

#include "penstock/standard.hpp"

namespace penstock {

/// Sgd is the rule of torch.optim.SGD: v = momentum v + (1 - dampening) g; w -= learning_rate v.
struct Sgd {
  /// `learning_rate`, 0 or more, is a factor of each change of a weight.
  double learning_rate = 0.01;
  /// `momentum` is the share of the velocity that stays from update to update.
  double momentum = 0;
  /// `dampening` is the share of a gradient that does not enter the velocity.
  double dampening = 0;
  /// `weight_decay` is the share of a weight that is added to its gradient.
  double weight_decay = 0;
  /// `nesterov` says whether the rule looks one update ahead, which needs a momentum and no
  /// dampening.
  bool nesterov = false;
  /// `dampen_first_step` says whether the rule is PopTorch's: dampening applies from the first
  /// update on, and also without momentum.
  bool dampen_first_step = false;
  /// `keras_variant` says whether the rule is that of Keras, v = momentum v + learning_rate g; w -=
  /// v, which has no dampening. That rule gives the same weights as PyTorch's while the learning
  /// rate does not change.
  bool keras_variant = false;
};

/// Adam is the rule of torch.optim.Adam, where weight decay is added to the gradient.
struct Adam {
  /// `learning_rate`, 0 or more, is a factor of each change of a weight.
  double learning_rate = 1e-3;
  /// `beta1` is the share of the mean gradient that stays from update to update; it is 0 or more
  /// and below 1.
  double beta1 = 0.9;
  /// `beta2` is the share of the mean square that stays from update to update; it is 0 or more and
  /// below 1.
  double beta2 = 0.999;
  double eps = 1e-8;  ///< `eps` is added to the root of the mean square.
  /// `weight_decay` is the share of a weight that is added to its gradient.
  double weight_decay = 0;
  /// `bias_correction` says whether the mean gradient is divided by 1 - beta1^t and the mean square
  /// by 1 - beta2^t at update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// AdamW is the rule of torch.optim.AdamW, where weight decay is applied to the weight itself.
struct AdamW {
  /// `learning_rate`, 0 or more, is a factor of each change of a weight.
  double learning_rate = 1e-3;
  /// `beta1` is the share of the mean gradient that stays from update to update; it is 0 or more
  /// and below 1.
  double beta1 = 0.9;
  /// `beta2` is the share of the mean square that stays from update to update; it is 0 or more and
  /// below 1.
  double beta2 = 0.999;
  double eps = 1e-8;  ///< `eps` is added to the root of the mean square.
  /// Each update also multiplies a weight by 1 - learning_rate·weight_decay.
  double weight_decay = 1e-2;
  /// `bias_correction` says whether the mean gradient is divided by 1 - beta1^t and the mean square
  /// by 1 - beta2^t at update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// RmsProp is the rule of torch.optim.RMSprop.
struct RmsProp {
  /// `learning_rate`, 0 or more, is a factor of each change of a weight.
  double learning_rate = 1e-2;
  /// `alpha` is the share of the mean square that stays from update to update; it is 0 or more and
  /// below 1.
  double alpha = 0.99;
  /// `eps` is added to the root of the mean square or, with `tf_variant`, under the root.
  double eps = 1e-8;
  /// `momentum` is the share of the velocity that stays from update to update.
  double momentum = 0;
  /// `weight_decay` is the share of a weight that is added to its gradient.
  double weight_decay = 0;
  /// `centered` says whether the square of the mean gradient is subtracted from the mean square.
  bool centered = false;
  /// `tf_variant` says whether the rule is TensorFlow's: `eps` is under the root, the mean square
  /// starts at one, and the learning rate is a factor inside the velocity.
  bool tf_variant = false;
};

/// Lamb is the rule LAMB as PopTorch has it (You et al., "Large Batch Optimization for Deep
/// Learning").
struct Lamb {
  /// `learning_rate`, 0 or more, is a factor of each change of a weight.
  double learning_rate = 1e-3;
  /// `beta1` is the share of the mean gradient that stays from update to update; it is 0 or more
  /// and below 1.
  double beta1 = 0.9;
  /// `beta2` is the share of the mean square that stays from update to update; it is 0 or more and
  /// below 1.
  double beta2 = 0.999;
  double eps = 1e-8;  ///< `eps` is added to the root of the mean square.
  /// `weight_decay` is the share of a weight that is added to the direction of its change.
  double weight_decay = 1e-2;
  /// The change of a parameter is scaled by the norm of its weights, or by `max_weight_norm` if the
  /// norm is above that. The limit is 65500 if the field is not set.
  std::optional<double> max_weight_norm = {};
  /// `bias_correction` says whether the mean gradient is divided by 1 - beta1^t and the mean square
  /// by 1 - beta2^t at update t, counted from 1, because both means start at 0.
  bool bias_correction = true;
};

/// OptimizerSettings are the settings of one rule. Functions that go through all rules do so in the
/// order of this list.
using OptimizerSettings = std::variant<Sgd, Adam, AdamW, RmsProp, Lamb>;

}  // namespace penstock
