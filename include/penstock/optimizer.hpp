// An Optimizer says which rule updates the weights, with which constants, for which parameters. It
// is a value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/learning_rate_schedule.hpp"
#include "penstock/optimizer_settings.hpp"

namespace penstock {

/// A ParameterGroup is a group of parameters whose rule or constants differ from those of all
/// others.
struct ParameterGroup {
  /// `parameters` has the names of the parameters of the group. A parameter belongs to one group at
  /// most.
  std::vector<std::string> parameters;
  /// The parameters have these settings, of the same rule or of another one, instead of
  /// Optimizer::settings.
  OptimizerSettings settings;
};

/// An Optimizer says which rule updates a model's weights, and with which constants.
struct Optimizer {
  /// `settings` has the rule and the constants of the parameters that are in no group.
  OptimizerSettings settings = Sgd{};
  /// `groups` has the groups of parameters that have constants, or also a rule, of their own.
  std::vector<ParameterGroup> groups = {};
  /// `max_grad_norm` is the limit of the global L2 norm of the final gradient, over all stages and
  /// groups, after replicas and micro-batches were reduced and before a rule sees the gradient; 0
  /// means that there is no limit. As in torch.nn.utils.clip_grad_norm_, the gradient is multiplied
  /// by max_grad_norm / (norm + 1e-6), but by 1 at most. (PopART differs for SGD: there the limit
  /// holds for the sum of the gradients or, with momentum, for the velocity.)
  double max_grad_norm = 0;
  /// `exact_max_grad_norm` says whether the gradient is multiplied by PopTorch's factor instead,
  /// which is max_grad_norm / max(max_grad_norm, norm).
  bool exact_max_grad_norm = false;

  Optimizer() = default;
  /// Makes an optimizer of the settings of a rule, such as AdamW.
  template <class Settings>
  requires std::is_constructible_v<OptimizerSettings, Settings> Optimizer(const Settings& rule)
      // The constructor is implicit, so that settings can stand for an Optimizer.
      : settings(rule) {}

  /// `loss_scaling` is a factor of the loss: the gradient of the loss starts with this number,
  /// which is more than 0, and the final gradient is divided by the same number before the gradient
  /// is clipped or any rule sees it. The loss that a step returns is not scaled. A power of two
  /// does not change the weights, as long as no gradient leaves the range of f32; other numbers
  /// change them by rounding. A training model refuses a number that exceeds 2^126 when multiplied
  /// by the number of micro-batches that a mean is taken over, which is gradient_accumulation times
  /// replication_factor.
  double loss_scaling = 1;
  /// `schedule` has the factor by which every learning rate is multiplied in each update.
  LearningRateSchedule schedule = {};
  /// `marked` has the marked attributes by name; true means variable, and false means constant.
  std::map<std::string, bool> marked = {};

  /// Marks an attribute as variable, so that TrainingModel::set_optimizer() may change it. The
  /// optimizer with which the training model was made decides what is variable. In that optimizer
  /// the learning rate is variable without a mark, and so is each attribute that has another value
  /// than its default, in `settings` or in a group. All other attributes are constant unless they
  /// are marked. Attributes are the numeric fields of the settings of all rules that the optimizer
  /// has, max_grad_norm and loss_scaling; switches cannot be changed.
  /// @throws Error invalid_argument if there is no attribute of that name; the text lists the
  /// names.
  Optimizer& mark_as_variable(const std::string& attribute);
  /// Removes the mark, or marks as constant an attribute that is variable without a mark.
  /// @throws Error as mark_as_variable().
  Optimizer& mark_as_constant(const std::string& attribute);
  /// Returns whether TrainingModel::set_optimizer() may change the attribute.
  /// @throws Error as mark_as_variable().
  bool is_variable(std::string_view attribute) const;

  /// Sets the learning rate of all parameters, those in groups included.
  void set_learning_rate(double learning_rate);
  /// Returns the learning rate of the parameters in no group, before the schedule is applied.
  double learning_rate() const;

  /// Checks every constant. @throws Error invalid_argument that names the constant, its range and
  /// its value.
  void validate() const;
};

}  // namespace penstock
