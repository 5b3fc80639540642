// Which inputs of a model a step of training takes. Pure.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Names of the inputs that the loss or an output depends on, in their order; of a graph that
/// cannot be trained, for it has no loss or several, those of its outputs.
std::vector<std::string> step_inputs(const Graph& graph);

}  // namespace penstock::graph
