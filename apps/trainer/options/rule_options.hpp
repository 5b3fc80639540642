// The options that set the constants of optimizer rules are made from the engine's descriptions of
// its rules: a rule or a constant that is added to the engine is available here without a change.
#pragma once

#include <string>
#include <vector>

#include "apps/trainer/options/option_row.hpp"
#include "apps/trainer/options/options.hpp"
#include "penstock/optimizer.hpp"

namespace trainer {

/// Returns the names of all optimizer rules.
std::vector<std::string> rule_names();

/// Returns a row for each constant that a rule has, except for the learning rate, for which the
/// trainer has an option with a default of its own. The constant "weight_decay" is the option
/// "weight-decay"; a switch that is on by default, such as "bias_correction", is turned off by
/// "no-bias-correction".
std::vector<OptionRow> constant_rows();

/// Checks that the rule has the constants that are given, and that the values of the constants fit
/// each other. @throws penstock::Error invalid_argument, whose text begins with the option that
/// does not fit.
void validate_rule(const OptimizerOptions& options);

/// Returns the optimizer that the options ask for, without the schedule of the learning rate.
penstock::Optimizer make_optimizer(const OptimizerOptions& options);

}  // namespace trainer
