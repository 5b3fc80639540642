// From a host's Optimizer to the rules that the graph floor has. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

using graph::rule_of;

/// The rule of each of a model's trainable `parameters`, in their order: that of the group which
/// names it, else the optimizer's own.
/// @throws Error invalid_argument naming a group's parameter that is not among them; and as
/// Optimizer::validate(), which is called first.
std::vector<graph::ParameterRule> parameter_rules(const Optimizer& optimizer,
                                                  std::span<const std::string> parameters);

/// What a rule keeps of its parameter; nothing where there is none, for it is not trained.
std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule);

}  // namespace penstock
