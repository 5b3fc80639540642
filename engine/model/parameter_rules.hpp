// These pure functions find the update rule of each parameter in a host's Optimizer, and the state
// that a rule keeps.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

using graph::rule_of;

/// Returns the rule of each of a model's trainable `parameters`, in their order: the rule of the
/// group that names the parameter, or else the optimizer's own.
/// @throws Error invalid_argument if a group names a parameter that is not in `parameters`; as
/// Optimizer::validate(), which is called first.
std::vector<graph::ParameterRule> parameter_rules(const Optimizer& optimizer,
                                                  std::span<const std::string> parameters);

/// Returns the state tensors that a rule keeps for its parameter. A parameter that is not trained
/// has no rule and no state.
std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule);

}  // namespace penstock
