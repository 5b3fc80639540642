// dump() returns a graph or a plan as text, for debug logs and tests. The same graph or plan has
// the same text everywhere. The functions are pure.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the name of the graph, then a line for each input, variable, node and output and for the
/// loss. The line of a node shows the node's block.
std::string dump(const Graph& graph);

/// Returns the edges of the plan, then each stage with what it holds, receives and sends, and a
/// line per instruction with the places that the instruction reads and writes.
std::string dump(const Plan& plan);

}  // namespace penstock::graph
