// These functions lead from a host's Optimizer to the rules that the graph floor has. They are
// pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

using graph::rule_of;

/// Returns the rule of each of a model's trainable `parameters`, in their order: that of the group
/// which names the parameter, else the optimizer's own.
/// @throws Error invalid_argument that names a group's parameter that is not among them; and as
/// Optimizer::validate(), which is called first.
std::vector<graph::ParameterRule> parameter_rules(const Optimizer& optimizer,
                                                  std::span<const std::string> parameters);

/// Returns what a rule keeps of its parameter. A parameter that is not trained has no rule, and
/// nothing is kept of it.
std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule);

}  // namespace penstock
