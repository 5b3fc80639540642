// Ops that take i64 indices as an input share these functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns `indices[i]`, which is called `element`. @throws Error invalid_data if it is not from 0
/// to `end` - 1, such as "id 12 at position 3: expected 0 to 10".
std::int64_t checked_index(std::span<const std::int64_t> indices, std::size_t i, std::int64_t end,
                           std::string_view element);
/// Fills `indices` with 0 to `end` - 1, again and again, for Op::make_valid.
void fill_indices(const Operand& indices, std::int64_t end);

}  // namespace penstock::graph
