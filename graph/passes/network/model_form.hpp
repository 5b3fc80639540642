// This pass says what a model becomes for training, which minimises one of its losses, and for
// inference, in which some of its ops have another form. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph's `loss` if it has one, and otherwise the loss (an op with `is_loss`) on which
/// no other loss depends, and whose result no other node reads.
/// @throws Error invalid_model if there is not exactly one such loss; the text names the losses.
ValueId final_loss(const Graph& graph);

/// Returns `model` with the `inference` form of every op that has such a form. The form takes as
/// many of the node's leading inputs as it accepts, and gives the leading outputs. The node's other
/// outputs, such as new running statistics, are not computed any more.
/// @throws Error unsupported if a node uses an output that is not computed any more, or would still
/// update a buffer.
Graph inference_form(const Graph& model);

}  // namespace penstock::graph
