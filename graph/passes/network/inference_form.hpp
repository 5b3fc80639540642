// This pass turns a model into the form that it has in inference. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Replaces every op that has an `inference` form by that form. The replacement takes the longest
/// run of leading inputs that it accepts, and gives the leading outputs. The other outputs are
/// gone, and with them the updates of running statistics.
/// @throws Error unsupported if an output that is gone is used, or if a replacement still updates a
/// buffer.
Graph inference_form(const Graph& model);

}  // namespace penstock::graph
