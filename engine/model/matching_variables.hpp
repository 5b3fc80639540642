// matching_variables() finds the parameters or the buffers of a network whose names match a
// pattern. It is a pure function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock {

/// Returns the positions in Graph::variables of the variables of the kind `kind`, parameter or
/// buffer, whose names `pattern` matches.
/// @throws Error invalid_argument if there are none. The text begins with `subject`.
std::vector<std::size_t> matching_variables(const graph::Graph& graph, graph::ValueKind kind,
                                            std::string_view pattern, const std::string& subject);

}  // namespace penstock
