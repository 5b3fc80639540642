// This pass finds what inference need not compute anew for each micro-batch, because it depends on
// weights alone. It is pure.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// A Prepared is a graph and its stages, some of whose nodes are in StageGraph::prepare.
struct Prepared {
  Graph graph;
  Partition partition;
};

/// Moves nodes of each stage's forward to StageGraph::prepare, and returns the new graph and
/// partition. A node is moved if its inputs are variables that lie on the IPU, or results of moved
/// nodes, and if only nodes of its stage read its results. Nodes that change a buffer or run code
/// of the host stay, and so do the readers of a buffer that a node changes. Nodes that make much of
/// little, such as a row repeated to a matrix, stay, too: their results would be kept for ever, and
/// take more memory than they are worth.
///
/// Then nodes that can read packed weights (Op::packed_form) do so if their weights are such
/// variables or results. A new node, which is in StageGraph::prepare, packs the weights. Nodes of a
/// stage that read the same weights in the same order share that node.
///
/// `graph` has no backward nodes. `offload` says which variables the host store keeps.
Prepared prepare(Graph graph, Partition partition, const OffloadOptions& offload);

}  // namespace penstock::graph
