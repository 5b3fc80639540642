// These pure functions make the rules of a plan's parameters from a host's Optimizer, and check
// whether new rules may replace them.
#pragma once

#include <string>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

/// Returns the rules of the plan's variables. `trainable` has the names of all trainable
/// parameters, and a gradient's sum is divided by `gradient_parts`, see actors::gradient_parts().
/// @throws Error as parameter_rules(); invalid_argument for a loss scaling that is too large.
actors::UpdateRules update_rules(const Optimizer& optimizer, const graph::Plan& plan,
                                 const std::vector<std::string>& trainable, double gradient_parts);

/// Checks that the rules `next` keep the same state of each parameter as the rules `now`.
/// @throws Error invalid_argument, which names a parameter for which they do not.
void expect_same_state(const graph::Plan& plan, const actors::UpdateRules& now,
                       const actors::UpdateRules& next);

}  // namespace penstock
