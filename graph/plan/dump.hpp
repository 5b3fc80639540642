// Dumps: graphs and plans as text, for debug logs and tests. The same text for the same thing,
// everywhere. Pure.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// One line per input, variable, node and output; a node's line shows its block.
std::string dump(const Graph& graph);

/// Edges, then each stage with what it holds, receives and sends, and a line per instruction with
/// the places it reads and writes.
std::string dump(const Plan& plan);

}  // namespace penstock::graph
