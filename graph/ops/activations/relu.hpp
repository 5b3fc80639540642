#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr FlagAttribute relu{"relu"};

}  // namespace attribute

/// y = max(x, 0); a NaN stays a NaN. Input x of any shape.
extern const Op relu;
/// (y, dy) -> dx = dy where y > 0, else 0.
extern const Op relu_gradient;

/// In the backward of an op that may end in a ReLU of its own (attribute "relu"): the gradient of
/// what goes into that.
ValueId gradient_before_relu(GradientContext& context);

}  // namespace penstock::graph
