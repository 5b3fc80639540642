// NetworkNames says which names a network's inputs, variables, nodes, outputs and blocks have, and
// makes names for nodes that were given none, in a time that does not depend on how many there are.
// One thread at a time uses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/model/name_index.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/op.hpp"

namespace penstock {

class NetworkNames {
 public:
  /// Returns whether an input is called `name`. All functions of this class are called with the
  /// same graph each time.
  bool has_input(const graph::Graph& graph, const std::string& name);
  bool has_variable(const graph::Graph& graph, const std::string& name);
  bool has_node(const graph::Graph& graph, const std::string& name);
  bool has_output(const graph::Graph& graph, const std::string& name);
  /// Returns the number of the block called `name`, or nothing if there is none.
  std::optional<std::size_t> find_block(const graph::Graph& graph, const std::string& name);

  /// Returns a name `OP_n` for a new node of `op` that is not in use. n is the number of nodes of
  /// that op, the new one included, or the next higher number that makes an unused name.
  std::string numbered(const graph::Graph& graph, const graph::Op& op);

  /// Forgets the inputs, variables, nodes and outputs of `graph`, except for the first `inputs`,
  /// `variables`, `nodes` and `outputs` of them. The graph must still have what is forgotten.
  void keep(const graph::Graph& graph, std::size_t inputs, std::size_t variables, std::size_t nodes,
            std::size_t outputs) noexcept;
  /// Forgets the blocks, which are about to change.
  void forget_blocks() noexcept { blocks_.keep(0); }

 private:
  NameIndex inputs_, variables_, nodes_, outputs_, blocks_;
  /// `nodes_of_` has the number of nodes of each op among the graph's first `counted_` nodes.
  std::unordered_map<const graph::Op*, std::size_t> nodes_of_;
  std::size_t counted_ = 0;
};

}  // namespace penstock
