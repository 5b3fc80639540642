#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x·Φ(x), where Φ is the normal distribution (Hendrycks and Gimpel, 2016), by erf and
/// not by its approximation by tanh. The input x may have any shape.
extern const Op gelu;
/// Maps (x, dy) to dx = dy·(Φ(x) + x·φ(x)).
extern const Op gelu_gradient;

}  // namespace penstock::graph
