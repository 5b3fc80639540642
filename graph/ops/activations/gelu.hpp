#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = x·Φ(x), Φ the normal distribution (Hendrycks and Gimpel, 2016), by erf and not by its tanh
/// approximation. Input x of any shape.
extern const Op gelu;
/// (x, dy) -> dx = dy·(Φ(x) + x·φ(x)).
extern const Op gelu_gradient;

}  // namespace penstock::graph
