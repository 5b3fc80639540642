// These functions say what joins the stages of a plan: the edges along which tensors travel, and
// who updates a parameter that several stages hold. They are pure.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/memory/memory_map.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the edges of `partition`, each with the place of its tensor in memory. `maps` has the
/// memory map of each stage.
std::vector<Edge> edges_of(const Graph& graph, const Partition& partition,
                           const std::vector<StageMemoryMap>& maps);

/// Returns `plan`, which has all stages already, and adds to it which stage updates each parameter,
/// from which gradients, and which stages have copies of the parameter.
Plan with_owners(Plan plan, const Graph& graph, const std::vector<StageMemoryMap>& maps);

}  // namespace penstock::graph
