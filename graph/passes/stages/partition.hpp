// This pass says which part of a graph each stage has, and what has to travel between the stages.
// It is pure.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// Puts each node, backward nodes included, into the stage of its block. A stage runs its nodes in
/// the graph's order. A value that other stages need has one edge to each of these stages, straight
/// from the stage that computes it or from the host. If no value travels from a stage to one of its
/// neighbours, an edge of kind `order` leads to that neighbour. Edges are ordered by value, then by
/// receiver; those of kind `order` come last.
/// @throws Error invalid_topology if the first stage uses no input of the model.
Partition partition(const Graph& graph, const StageAssignment& assignment);

}  // namespace penstock::graph
