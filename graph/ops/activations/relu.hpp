#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr FlagAttribute relu{"relu"};

}  // namespace attribute

/// Computes y = max(x, 0); a NaN stays a NaN. The input x may have any shape.
extern const Op relu;
/// Maps (y, dy) to dx = dy where y > 0 or y is no number, else 0.
extern const Op relu_gradient;

/// Serves the backward of an op that may end in a ReLU of its own, by the attribute "relu": returns
/// the gradient of what goes into that ReLU.
ValueId gradient_before_relu(GradientContext& context);

}  // namespace penstock::graph
