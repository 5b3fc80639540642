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
  /// Counts the bytes of the values and of the shared parameters that travel if a stage begins with
  /// this atom; shared parameters travel only once per update.
  std::int64_t bytes_before = 0;
};

/// Returns the atoms of a graph, which for training has its backward nodes already, in order. Nodes
/// that share a buffer are in one atom, because a stage does not learn of another stage's changes
/// of a buffer. Nodes that share a parameter may be in different atoms. The first atom reads an
/// input of the model, because the first stage begins when an input arrives.
std::vector<Atom> find_atoms(const Graph& graph);

/// Returns, for each node, the number of the atom that it belongs to. A backward node belongs to
/// the atom of its forward node.
std::vector<std::int32_t> atom_of_nodes(const Graph& graph, std::span<const Atom> atoms);

struct CutGraph {
  Graph graph = {};  ///< Has the stages as its blocks.
  StageAssignment assignment = {};
};

/// Cuts `graph` into stages. `begins` has the number of the first atom of each stage, and begins
/// with 0. `ipus` has the IPU of each stage; if it is empty, a stage is on the IPU of its own
/// number. The placement of a stage names the blocks of `graph` of which the stage has nodes.
CutGraph cut(const Graph& graph, std::span<const Atom> atoms, std::span<const std::int32_t> begins,
             const std::vector<std::int32_t>& ipus);

}  // namespace penstock::graph
