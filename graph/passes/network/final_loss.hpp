// Which of a model's losses training minimises. Pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// The graph's `loss` if it has one; else the loss (an op with `is_loss`) that no other loss
/// depends on, whose result no other node reads.
/// @throws Error invalid_model if there is none or more than one; the text names them.
ValueId final_loss(const Graph& graph);

}  // namespace penstock::graph
