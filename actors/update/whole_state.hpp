// whole_state() puts an optimizer's state together from what the replicas keep: a replica keeps
// either all elements of a tensor, or some neighbouring ones. The function is pure.
#pragma once

#include <span>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

/// Returns the whole state tensors of every variable of `plan`, in the order of Plan::variables.
/// `states` has all elements of each tensor, as a whole or in parts, in any order.
std::vector<std::vector<Tensor>> whole_state(const graph::Plan& plan,
                                             std::span<const VariableState> states);

}  // namespace penstock::actors
