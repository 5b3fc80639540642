// This pass gives the host tensors from within a model beside its outputs, and gradients of these.
// It is pure.
#pragma once

#include <span>
#include <string>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct AnchorRequest {
  std::string tensor = {};  ///< Is the name of a value.
  /// Asks for the gradient of the loss with respect to the value, instead of the value itself.
  bool gradient = false;
};

/// Returns `graph`, which has no backward nodes yet, with outputs that are those values, and with
/// `Graph::gradients` for those whose gradient is asked for.
/// @throws Error invalid_argument, with a text that begins with `options.output.anchors[i]`, if no
/// layer computes the value (a parameter's gradient may be asked for, too), or if a gradient is
/// asked for without a loss to train.
Graph with_anchors(Graph graph, std::span<const AnchorRequest> anchors, bool training);

}  // namespace penstock::graph
