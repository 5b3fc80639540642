// Optimizer: which rule updates the weights, with which constants, for which parameters. A value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/learning_rate_schedule.hpp"
#include "penstock/optimizer_settings.hpp"

namespace penstock {

/// Parameters whose constants differ from those of all others.
struct ParameterGroup {
  /// These parameters belong to the group; no other group has them.
  std::vector<std::string> parameters;
  OptimizerSettings settings;  ///< These constants replace those of Optimizer::settings.
};

/// Says which rule updates a model's weights, and with which constants. It is a plain value.
struct Optimizer {
  /// The rule of all parameters, with the constants of those that are in no group.
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
  /// Makes an optimizer of a rule's settings, such as AdamW.
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
  /// Takes the mark back, or marks as constant what was variable by itself. @throws Error as
  /// above.
  Optimizer& mark_as_constant(const std::string& attribute);
  /// Returns whether TrainingModel::set_optimizer may change the attribute. @throws Error as
  /// above.
  bool is_variable(std::string_view attribute) const;

  /// Sets the learning rate of every group.
  void set_learning_rate(double learning_rate);
  /// Before the schedule, of the parameters in no group.
  double learning_rate() const;

  /// @throws Error invalid_argument naming the constant, what it may be, and what it is.
  void validate() const;
};

}  // namespace penstock
