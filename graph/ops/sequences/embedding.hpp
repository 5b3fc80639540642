#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Rows of a table: inputs weight [V,E] and ids i64 of any shape [...]; output [...,E]. The kernel
/// throws Error invalid_data for an id that is no row: "id 12 at position 3: expected 0 to 10".
extern const Op embedding;
/// (ids, dy [...,E]) -> dweight [V,E], rows added in the order of the ids; attribute rows: V.
extern const Op embedding_gradient;

}  // namespace penstock::graph
