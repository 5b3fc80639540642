// These functions put together what the replicas keep of an optimizer's state: each has all of a
// tensor, or a shard of it. They are pure.
#pragma once

#include <span>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

/// The tensors of every variable of the plan, by position, in their own shapes; `states` has all
/// elements of each tensor that is kept, in any order.
std::vector<std::vector<Tensor>> whole_state(const graph::Plan& plan,
                                             std::span<const VariableState> states);

}  // namespace penstock::actors
