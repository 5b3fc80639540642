// Optimizer: which rule updates the weights, with which constants, for which parameters. A value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "penstock/learning_rate_schedule.hpp"

namespace penstock {

/// torch.optim.SGD: v = momentum v + (1 - dampening) g; w -= learning_rate v. `dampen_first_step`
/// is PopTorch's rule: dampening applies from the first step on, and without momentum too.
/// `keras_variant` is Keras's: v = momentum v + learning_rate g; w -= v, without dampening; the
/// same while the learning rate does not change.
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

/// torch.optim.RMSprop. `tf_variant`: eps inside the root, mean square starts at one, learning rate
/// inside the momentum buffer.
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
  std::optional<double> max_weight_norm = {};  ///< none: 65500
  bool bias_correction = true;
};

using OptimizerSettings = std::variant<Sgd, Adam, AdamW, RmsProp, Lamb>;

struct ParameterGroup {
  std::vector<std::string> parameters;
  OptimizerSettings settings;
};

struct Optimizer {
  OptimizerSettings settings = Sgd{};
  std::vector<ParameterGroup> groups = {};  ///< exceptions; of the same kind as `settings`
  /// Limit of the global L2 norm of the final gradient (reduced, mean or sum), over all stages and
  /// groups and before any rule sees it; 0: no limit. As torch.nn.utils.clip_grad_norm_: the factor
  /// is max_grad_norm / (norm + 1e-6), at most 1. (PopART does it elsewhere with SGD: there the
  /// limit holds for the gradients' sum, or, with momentum, for the velocity.)
  double max_grad_norm = 0;
  /// PopTorch's factor instead: max_grad_norm / max(max_grad_norm, norm).
  bool exact_max_grad_norm = false;

  Optimizer() = default;
  template <class Settings>
  requires std::is_constructible_v<OptimizerSettings, Settings> Optimizer(const Settings& rule)
      : settings(rule) {}  // an AdamW is an Optimizer

  /// Loss scaling: the gradient of the loss starts with this number, more than 0, and the final
  /// gradient is divided by it before it is clipped or any rule sees it; the loss that a step
  /// returns is not scaled. Powers of two leave no trace in the weights (as long as no gradient
  /// leaves the range of f32), others that of rounding. Times the G·R micro-batches that a mean is
  /// of it is at most 2^126, or the training model refuses it.
  double loss_scaling = 1;
  /// What every learning rate is multiplied by, update by update.
  LearningRateSchedule schedule = {};
  /// Attributes that were marked, by name: true for variable.
  std::map<std::string, bool> marked = {};

  /// Which attributes TrainingModel::set_optimizer may change: those that are variable in the
  /// optimizer that the training model was made with. The learning rate is, and so is each
  /// attribute that had another value than its default, there or in a group; the others are
  /// constant until they are marked. Attributes are the fields of numbers of this rule's settings,
  /// max_grad_norm and loss_scaling; switches cannot be changed.
  /// @throws Error invalid_argument for another name; lists the names.
  Optimizer& mark_as_variable(const std::string& attribute);
  Optimizer& mark_as_constant(const std::string& attribute);
  bool is_variable(std::string_view attribute) const;

  /// Sets the learning rate of every group.
  void set_learning_rate(double learning_rate);
  /// Before the schedule, of the parameters in no group.
  double learning_rate() const;

  /// @throws Error invalid_argument naming the constant, what it may be, and what it is.
  void validate() const;
};

}  // namespace penstock
