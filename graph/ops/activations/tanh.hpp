#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = tanh(x). The input x may have any shape.
extern const Op tanh;
/// Maps (y, dy) to dx = dy·(1 - y²).
extern const Op tanh_gradient;

}  // namespace penstock::graph
