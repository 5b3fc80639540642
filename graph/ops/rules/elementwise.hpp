// Shape rules of functions of one tensor that work element by element.
#pragma once

#include <vector>

#include "graph/op.hpp"

namespace penstock::graph {

/// x of any shape -> the same type.
std::vector<TensorType> infer_unary(const Attributes&, Types inputs);
/// (x or y, dy), which have the same type -> dx.
std::vector<TensorType> infer_unary_gradient(const Attributes&, Types inputs);

/// Such a function is the same in every layout: it stays where its input is.
LaneUse follow_lanes(const Attributes&, Types inputs);

}  // namespace penstock::graph
