// Pass: the stages' shares of a graph, and what has to travel between them. Pure.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// A node goes to its block's stage, backward nodes too; a stage runs its nodes in the graph's
/// order. Every value that another stage needs has one edge to each stage that needs it, straight
/// from its producer or the host, and neighbours without such an edge are joined by one of kind
/// `order`, in each direction. Edges are ordered by value, then by receiver; `order` comes last.
/// @throws Error invalid_topology if the first stage uses no input of the model.
Partition partition(const Graph& graph, const StageAssignment& assignment);

}  // namespace penstock::graph
