// This pass says where a graph may be cut into stages, and cuts it. A graph may be cut between any
// two nodes of its forward, also inside a block, unless a stage could then not do its work. The
// pass is pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// An Atom is consecutive forward nodes that stay in one stage wherever the graph is cut.
struct Atom {
  NodeId first = 0;
  NodeId last = 0;  ///< This is the first node after the atom.
  /// This many bytes, of values and of shared parameters, travel between stages if a stage begins
  /// with this atom. Shared parameters travel only once per update.
  std::int64_t bytes_before = 0;
};

/// Returns the atoms of `graph` in order. For training, `graph` has its backward nodes already.
/// Nodes that share a buffer are in one atom, because a stage does not learn of another stage's
/// changes of a buffer. Nodes that share a parameter may be in different atoms. The first atom
/// reads an input of the model, because the first stage begins when an input arrives.
std::vector<Atom> find_atoms(const Graph& graph);

/// Returns, for each node, the number of the atom that it belongs to. A backward node belongs to
/// the atom of its forward node.
std::vector<std::int32_t> atom_of_nodes(const Graph& graph, std::span<const Atom> atoms);

struct CutGraph {
  Graph graph = {};  ///< The blocks of this graph are the stages.
  StageAssignment assignment = {};
};

/// Cuts `graph` into stages. `begins` has the number of the first atom of each stage; the first
/// number is 0. `ipus` has the IPU of each stage; if it is empty, each stage is on the IPU of its
/// own number. The placement of a stage names the blocks of `graph` that have nodes in the stage.
CutGraph cut(const Graph& graph, std::span<const Atom> atoms, std::span<const std::int32_t> begins,
             const std::vector<std::int32_t>& ipus);

}  // namespace penstock::graph
