// This pass adds anchors to a model: the host gets tensors from within the model, or gradients of
// such tensors, besides the model's outputs. It is pure.
#pragma once

#include <span>
#include <string>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct AnchorRequest {
  std::string tensor = {};  ///< This is the name of a value.
  /// If this is true, the anchor asks for the gradient of the loss with respect to the value,
  /// instead of the value itself.
  bool gradient = false;
};

/// Returns `graph`, which has no backward nodes yet, with an output for each anchor that asks for a
/// value, and with an entry in `Graph::gradients` for each anchor that asks for a gradient.
/// @throws Error invalid_argument, with a text that begins with `options.output.anchors[i]`, if no
/// layer computes the value that an anchor names (an anchor may also ask for the gradient of a
/// parameter), if an anchor asks for the gradient of a value that is not f32, or if it asks for a
/// gradient and `training` is false.
Graph with_anchors(Graph graph, std::span<const AnchorRequest> anchors, bool training);

}  // namespace penstock::graph
