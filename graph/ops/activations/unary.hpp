// These activations are functions of one tensor, which may have any shape. They have no attributes,
// and work element by element.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr FlagAttribute relu{"relu"};

}  // namespace attribute

/// Computes y = max(x, 0); a NaN stays a NaN.
extern const Op relu;
/// Maps (y, dy) to dx, which is dy where y > 0 or y is a NaN, and 0 elsewhere.
extern const Op relu_gradient;

/// Computes y = x·Φ(x), where Φ is the distribution function of the standard normal distribution
/// (Hendrycks and Gimpel, 2016). The op computes Φ by erf, and not by an approximation by tanh.
extern const Op gelu;
/// Maps (x, dy) to dx = dy·(Φ(x) + x·φ(x)), where φ is the density of the standard normal
/// distribution.
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

/// Serves the backward of an op that applies a ReLU to its result if its attribute `relu` is set.
/// Returns the gradient of the ReLU's input or, if the attribute is not set, the gradient of output
/// 0.
ValueId gradient_before_relu(GradientContext& context);

}  // namespace penstock::graph
