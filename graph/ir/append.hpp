// These functions append a node in other ways than append() of graph.hpp, which compares the node's
// name with those of all nodes. That is too slow for passes that append about as many nodes as a
// deep model has.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Holds the names of a graph's nodes.
using NodeNames = std::unordered_set<std::string>;

/// Does what append() does, for a graph whose nodes have the names that `names` holds. The new
/// node's `name`, which is not empty, is added to them.
/// @throws Error as append() does.
NodeId append_named(Graph& graph, NodeNames& names, const Op& op, std::vector<ValueId> inputs,
                    Attributes attributes, const std::string& name);

/// Appends a node whose name may be used already: the caller renames it, see
/// give_unused_names().
/// @throws Error shape_mismatch as append() does.
NodeId append_unnamed(Graph& graph, const Op& op, std::vector<ValueId> inputs,
                      Attributes attributes, std::string name);

/// Goes through the nodes from `first` on, in their order, and gives each a name that no node
/// before it has: its own if that is unused, and else the first unused one of `name_2`, `name_3`
/// and so on. The values that a node computes are renamed with it.
void give_unused_names(Graph& graph, NodeId first);

}  // namespace penstock::graph
