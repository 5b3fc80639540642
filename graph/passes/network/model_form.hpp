// This pass says what a model becomes for training, which minimises one of its losses, and for
// inference, in which some of its ops have another form. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph's `loss` if it has one, and otherwise the loss (an op with `is_loss`) on which
/// no other loss depends, and whose result no other node reads.
/// @throws Error invalid_model if there is none or more than one; the text names them.
ValueId final_loss(const Graph& graph);

/// Replaces every op that has an `inference` form by that form. The replacement takes the longest
/// run of leading inputs that it accepts, and gives the leading outputs. The other outputs are
/// gone, and with them the updates of running statistics.
/// @throws Error unsupported if an output that is gone is used, or if a replacement still updates a
/// buffer.
Graph inference_form(const Graph& model);

}  // namespace penstock::graph
