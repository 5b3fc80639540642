// final_loss() says which of a model's losses training minimises. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph's `loss` if it has one, and otherwise the loss (an op with `is_loss`) on which
/// no other loss depends, and whose result no other node reads.
/// @throws Error invalid_model if there is none or more than one; the text names them.
ValueId final_loss(const Graph& graph);

}  // namespace penstock::graph
