// This pass gives a model the form that it has in training, where one of its losses is minimised,
// or in inference, where some of its ops have another form. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph's `loss` if it has one, and otherwise the loss (an op with `is_loss`) on which
/// no other loss depends, and whose result no other node reads.
/// @throws Error invalid_model if there is not exactly one such loss; the text names the losses.
ValueId final_loss(const Graph& graph);

/// Returns `model` with final_loss() as its loss. Every node that would update a frozen buffer has
/// its inference form, as inference_form() gives it.
/// @throws Error as final_loss(); unsupported as inference_form().
Graph training_form(const Graph& model);

/// Returns `model` in which every op that has the form Op::inference takes that form. The form
/// takes as many of the node's first inputs as it accepts, and gives the first outputs. The node's
/// other outputs, such as new running statistics, are not computed in inference.
/// @throws Error unsupported if a node uses an output that is not computed in inference, or would
/// still update a buffer.
Graph inference_form(const Graph& model);

}  // namespace penstock::graph
