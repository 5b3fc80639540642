// These are the rules of NumPy's broadcasting: shapes are aligned at their last axes, and a
// dimension that is 1 or missing is repeated.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns whether a tensor of shape `from` can be repeated to shape `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
/// Maps (a, b), f32 of shapes that broadcast, to their common shape.
std::vector<TensorType> infer_broadcast(const Attributes&, Types inputs);

}  // namespace penstock::graph
