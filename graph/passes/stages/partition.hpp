// This pass says which part of a graph each stage has, and what has to travel between the stages.
// It is pure.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// Puts a node into its block's stage, backward nodes too; a stage runs its nodes in the graph's
/// order. Every value that another stage needs has one edge to each stage that needs it, straight
/// from its producer or the host. Neighbours without such an edge are joined by an edge of kind
/// `order`, in each direction. Edges are ordered by value, then by receiver; those of kind `order`
/// come last.
/// @throws Error invalid_topology if the first stage uses no input of the model.
Partition partition(const Graph& graph, const StageAssignment& assignment);

}  // namespace penstock::graph
