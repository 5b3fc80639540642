// This pass drops the nodes, inputs and variables of a graph that no result needs. It is pure.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns `graph` with only those nodes, inputs and variables that the values `wanted` or a sum of
/// gradients need. Values and blocks keep their numbers; nodes get new numbers in the same order.
Graph prune(const Graph& graph, const std::vector<ValueId>& wanted);

}  // namespace penstock::graph
