#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = x where x >= 0, else negative_slope·x. Input x of any shape; attribute negative_slope
/// (0.01).
extern const Op leaky_relu;
/// (x or y, dy) -> dx = dy where the first is above 0, else negative_slope·dy.
extern const Op leaky_relu_gradient;

}  // namespace penstock::graph
