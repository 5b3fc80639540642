// These functions return ops: the op of a name, or all ops.
#pragma once

#include <span>
#include <string_view>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns the op called `name`. @throws Error invalid_model if there is no such op.
const Op& find_op(std::string_view name);
/// Returns every op.
std::span<const Op* const> all_ops();

}  // namespace penstock::graph
