#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x where x >= 0, and y = negative_slope·x elsewhere. The input x may have any shape;
/// the attribute negative_slope is 0.01 by default.
extern const Op leaky_relu;
/// Maps (x or y, dy) to dx, which is dy where x or y is above 0, and negative_slope·dy elsewhere.
extern const Op leaky_relu_gradient;

}  // namespace penstock::graph
