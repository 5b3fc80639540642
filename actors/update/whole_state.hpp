// whole_state() puts an optimizer's state together from what the replicas keep: of each tensor, a
// replica has all elements, or a shard. The function is pure.
#pragma once

#include <span>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

/// Returns the whole state tensors of every variable of the plan, by position in Plan::variables.
/// `states` has all elements of each tensor, as a whole or in shards, in any order.
std::vector<std::vector<Tensor>> whole_state(const graph::Plan& plan,
                                             std::span<const VariableState> states);

}  // namespace penstock::actors
