// whole_state() puts together what the replicas keep of an optimizer's state: a replica has all of
// a tensor, or a shard of it. The function is pure.
#pragma once

#include <span>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

/// Returns the whole tensors of every variable of the plan, by position in Plan::variables.
/// `states` has all elements of each tensor, in shards in any order.
std::vector<std::vector<Tensor>> whole_state(const graph::Plan& plan,
                                             std::span<const VariableState> states);

}  // namespace penstock::actors
