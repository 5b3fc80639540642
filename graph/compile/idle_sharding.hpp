// Idle sharding: that replicas were to divide what there is nothing of to divide. Pure.
#pragma once

#include <optional>
#include <string>

#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Why nothing of the optimizer's state is divided that was to be; nothing if something is.
std::optional<std::string> idle_sharding(const Plan& plan, const MemoryBudget& budget);

}  // namespace penstock::graph
