// step_inputs() says which inputs of a model a step of training takes. It is pure.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the names of the inputs on which the loss or an output depends, in their order. If the
/// graph cannot be trained, because it has no loss or several, they are those of its outputs.
std::vector<std::string> step_inputs(const Graph& graph);

}  // namespace penstock::graph
