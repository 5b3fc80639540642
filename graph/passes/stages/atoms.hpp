// This pass says where a graph may be cut into stages, and cuts it. A cut need not be between two
// blocks: it may be between any two nodes of the forward graph, unless a stage could then not do
// its work. The pass is pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// Has consecutive forward nodes that stay together wherever the graph is cut.
struct Atom {
  NodeId first = 0;
  NodeId last = 0;  ///< Is the first node after the atom.
  /// Counts the bytes of the values and of the shared parameters that travel if a stage begins
  /// here; shared parameters travel only once per update.
  std::int64_t bytes_before = 0;
};

/// Returns the atoms of a graph that has its backward nodes already, in order. Nodes that share
/// a buffer are in one atom, as no stage could keep another's changes of it; nodes that share a
/// parameter need not be. The first atom reads an input of the model, which tells a stage to
/// begin.
std::vector<Atom> find_atoms(const Graph& graph);

/// Returns the atom that each node belongs to; a backward node belongs where its forward node
/// does.
std::vector<std::int32_t> atom_of_nodes(const Graph& graph, std::span<const Atom> atoms);

struct CutGraph {
  Graph graph = {};  ///< Has the stages as its blocks.
  StageAssignment assignment = {};
};

/// Cuts `graph` before the atoms `begins`, the first of which is 0. A stage is on the IPU that
/// `ipus` says, or on that of its own number if `ipus` is empty. It names the model's blocks that
/// it has nodes of.
CutGraph cut(const Graph& graph, std::span<const Atom> atoms, std::span<const std::int32_t> begins,
             const std::vector<std::int32_t>& ipus);

}  // namespace penstock::graph
