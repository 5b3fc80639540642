// These functions describe all optimizer rules as data, for programs that offer the rules to their
// users by name, such as by options of a command line or by fields of a form.
#pragma once

#include <string_view>
#include <vector>

#include "penstock/optimizer_settings.hpp"

namespace penstock {

/// An OptimizerConstant describes a constant of an optimizer rule. All texts live as long as the
/// process.
struct OptimizerConstant {
  /// `name` is the name of the field in the rule's settings, in JSON and in messages, such as
  /// "beta1".
  std::string_view name;
  /// `torch_name` is PyTorch's name of the same argument, such as "betas[0]". It is empty if
  /// PyTorch has none.
  std::string_view torch_name;
  /// `meaning` says what the constant is, such as "share of the mean gradient that stays from
  /// update to update", or what the rule does if the switch is on, such as "look one update ahead".
  std::string_view meaning;
  /// `is_switch` says whether the constant is a switch: 1 is on, and 0 is off.
  bool is_switch = false;
  /// `default_value` is the value that the rule's settings have unless it is changed.
  double default_value = 0;
  double low = 0;            ///< `low` is the lower bound of a number.
  double high = 0;           ///< `high` is the upper bound of a number, or infinity.
  bool low_allowed = true;   ///< `low_allowed` says whether the number may be `low` itself.
  bool high_allowed = true;  ///< `high_allowed` says whether the number may be `high` itself.
};

/// An OptimizerRuleDescription describes an optimizer rule.
struct OptimizerRuleDescription {
  std::string_view name;       ///< `name` is the rule's name in JSON, such as "adamw".
  OptimizerSettings settings;  ///< `settings` has the rule's settings with their defaults.
  /// `constants` has the constants in the order of the settings.
  std::vector<OptimizerConstant> constants;
};

/// Returns every rule, in the order of OptimizerSettings.
/// @throws Error out_of_memory
std::vector<OptimizerRuleDescription> optimizer_rules();

/// Sets the constant called `name`, in Penstock or in PyTorch, to `value`, which is 1 or 0 for a
/// switch. Whether the value is in its range, and fits the other constants, is checked by
/// Optimizer::validate().
/// @throws Error invalid_argument if the rule has no constant of that name, or if the constant is a
/// switch and `value` is neither 1 nor 0; out_of_memory.
void set_constant(OptimizerSettings& settings, std::string_view name, double value);

}  // namespace penstock
