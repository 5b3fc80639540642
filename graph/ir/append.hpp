// These functions append a node faster than append() of graph.hpp does, which compares the node's
// name with those of all nodes. Passes use these functions if they append about as many nodes as a
// deep model has.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// NodeNames are the names of all nodes of a graph.
using NodeNames = std::unordered_set<std::string>;

/// Does what append() does, for a graph whose nodes have the names in `names`. The new node's
/// `name`, which must not be empty, is added to `names`.
/// @throws Error as append() does.
NodeId append_named(Graph& graph, NodeNames& names, const Op& op, std::vector<ValueId> inputs,
                    Attributes attributes, const std::string& name);

/// Appends a node whose name may be used already. The caller renames the node later; see
/// give_unused_names().
/// @throws Error shape_mismatch and invalid_argument as append() does.
NodeId append_unnamed(Graph& graph, const Op& op, std::vector<ValueId> inputs,
                      Attributes attributes, std::string name);

/// Goes through the nodes from `first` on, in their order, and gives each node a name that no node
/// before it has. A node keeps its own name if no node before it has that name; otherwise the node
/// gets the first unused one of the names `name_2`, `name_3` and so on. The values that a node
/// computes are renamed with the node.
void give_unused_names(Graph& graph, NodeId first);

}  // namespace penstock::graph
