// Pass: turns a model into the form it has in inference. Pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Replaces every op that has an `inference` form by it. The replacement takes the longest run of
/// leading inputs that it accepts, and gives the leading outputs; the others are gone, and with
/// them the updates of running statistics.
/// @throws Error unsupported if an output that is gone is used, or a replacement still updates a
/// buffer.
Graph inference_form(const Graph& model);

}  // namespace penstock::graph
