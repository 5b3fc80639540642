#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Looks up rows of a table. The inputs are weight [V,E] and ids i64 of any shape [...]; the output
/// is [...,E]. If the attribute padding_index is not -1, which is its default, the row of that
/// index gets no gradient. The kernel throws Error invalid_data for an id that is not the index of
/// a row: "id 12 at position 3: expected 0 to 10".
extern const Op embedding;
/// Maps (ids, dy [...,E]) to dweight [V,E]. The rows of dy are added, in the order of the ids, to
/// those rows of dweight whose indices are the ids, except for the row padding_index. The attribute
/// rows is V.
extern const Op embedding_gradient;

}  // namespace penstock::graph
