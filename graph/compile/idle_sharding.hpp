// idle_sharding() notices that replicas were to divide the optimizer's state, of which there is
// nothing to divide. It is pure.
#pragma once

#include <optional>

#include "graph/compile/advice.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns why nothing of the optimizer's state is divided although it was to be, or nothing if
/// something is divided.
std::optional<Note> idle_sharding(const Plan& plan, const MemoryBudget& budget);

}  // namespace penstock::graph
