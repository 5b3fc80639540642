// Pass: tensors within a model that the host asks for beside its outputs, and their gradients.
#pragma once

#include <span>
#include <string>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct AnchorRequest {
  std::string tensor = {};  ///< the name of a value
  bool gradient = false;    ///< the loss's with respect to it, instead of itself
};

/// Returns `graph`, which has no backward nodes yet, with outputs that are those values, and with
/// `Graph::gradients` for those whose gradient is asked for.
/// @throws Error invalid_argument, opening with `options.output.anchors[i]`, if no layer computes
/// the value (a gradient's may be a parameter), or a gradient is asked for without a loss to train.
Graph with_anchors(Graph graph, std::span<const AnchorRequest> anchors, bool training);

}  // namespace penstock::graph
