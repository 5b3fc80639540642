// These functions describe all optimizer rules as data, for programs that offer the rules to their
// users by name, such as by options of a command line or by fields of a form.
#pragma once

#include <string_view>
#include <vector>

#include "penstock/optimizer_settings.hpp"

namespace penstock {

/// Describes a constant of an optimizer rule. All texts live as long as the process.
struct OptimizerConstant {
  /// Is the name of the field in the rule's settings, in JSON and in messages, such as "beta1".
  std::string_view name;
  /// Is PyTorch's name of the same argument, such as "betas[0]"; empty if PyTorch has none.
  std::string_view torch_name;
  /// Says what the constant is, such as "share of the mean gradient that stays from update to
  /// update", or what the rule does if the switch is on, such as "look one update ahead".
  std::string_view meaning;
  bool is_switch = false;    ///< Says whether the constant is a switch: 1 is on, and 0 is off.
  double default_value = 0;  ///< Is the value that the rule's settings have unless it is changed.
  double low = 0;            ///< Is the lower bound of a number.
  double high = 0;           ///< Is the upper bound of a number, or infinity.
  bool low_allowed = true;   ///< Says whether the number may be `low` itself.
  bool high_allowed = true;  ///< Says whether the number may be `high` itself.
};

/// Describes an optimizer rule.
struct OptimizerRuleDescription {
  std::string_view name;                     ///< Is the rule's name in JSON, such as "adamw".
  OptimizerSettings settings;                ///< Holds the rule's settings with their defaults.
  std::vector<OptimizerConstant> constants;  ///< Has the constants in the order of the settings.
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
