// NumPy's broadcasting: shapes are aligned at their last axes; a dimension of 1 or a missing one is
// repeated.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Whether a tensor of shape `from` can be repeated to shape `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
/// (a, b) f32 of shapes that broadcast -> their common shape.
std::vector<TensorType> infer_broadcast(const Attributes&, Types inputs);

}  // namespace penstock::graph
