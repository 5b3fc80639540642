// These functions lead from a host's Optimizer to the rules of a plan's parameters, and say which
// rules may follow others. They are pure.
#pragma once

#include <string>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

/// Returns the rules. `trainable` has the names of all trainable parameters, and `gradient_parts`
/// is what a gradient's sum is divided by, see actors::gradient_parts().
/// @throws Error as parameter_rules(); invalid_argument for a loss scaling that is too large.
actors::UpdateRules update_rules(const Optimizer& optimizer, const graph::Plan& plan,
                                 const std::vector<std::string>& trainable, double gradient_parts);

/// Expects that the rules `next` keep the same state of each parameter as the rules `now`.
/// @throws Error invalid_argument naming a parameter of which they do not.
void expect_same_state(const graph::Plan& plan, const actors::UpdateRules& now,
                       const actors::UpdateRules& next);

}  // namespace penstock
