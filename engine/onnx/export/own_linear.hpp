// own_linear() finds what one ONNX node writes beside a recurrent op.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock {

/// Returns the linear layer that computes what the gates of the recurrent node `node` get from the
/// input of the layer, if nothing else reads its result; otherwise null.
const graph::Node* own_linear(const graph::Graph& model, const graph::Node& node);

}  // namespace penstock
