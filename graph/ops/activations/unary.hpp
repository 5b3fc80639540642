// These activations are functions of one tensor of any shape, element by element, and have no
// attributes.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr FlagAttribute relu{"relu"};

}  // namespace attribute

/// Computes y = max(x, 0); a NaN stays a NaN.
extern const Op relu;
/// Maps (y, dy) to dx = dy where y > 0 or y is no number, else 0.
extern const Op relu_gradient;

/// Computes y = x·Φ(x), where Φ is the normal distribution (Hendrycks and Gimpel, 2016), by erf and
/// not by its approximation by tanh.
extern const Op gelu;
/// Maps (x, dy) to dx = dy·(Φ(x) + x·φ(x)).
extern const Op gelu_gradient;

/// Computes y = 1 / (1 + exp(-x)).
extern const Op sigmoid;
/// Maps (y, dy) to dx = dy·y·(1 - y).
extern const Op sigmoid_gradient;

/// Computes y = x·s(x), where s is the logistic sigmoid.
extern const Op silu;
/// Maps (x, dy) to dx = dy·s(x)·(1 + x·(1 - s(x))).
extern const Op silu_gradient;

/// Computes y = tanh(x).
extern const Op tanh;
/// Maps (y, dy) to dx = dy·(1 - y²).
extern const Op tanh_gradient;

/// Serves the backward of an op that may end in a ReLU of its own, by the attribute "relu": returns
/// the gradient of what goes into that ReLU.
ValueId gradient_before_relu(GradientContext& context);

}  // namespace penstock::graph
