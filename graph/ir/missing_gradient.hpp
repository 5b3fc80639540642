// A value that a training needs to have a gradient may have none. The text of the refusal says why,
// and what to do, which is for whoever wrote the model.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Says, of a forward value, why no gradient goes back from it, and what to do, as in `depends on
/// parameters only by way of floor "step", which lets no gradient back; let it depend on one in
/// another way, too`. `dependent` says, for each ValueId of a forward value, whether a gradient is
/// computed of it, which is false for `value`.
std::string why_without_gradient(const Graph& graph, const std::vector<bool>& dependent,
                                 ValueId value);

}  // namespace penstock::graph
