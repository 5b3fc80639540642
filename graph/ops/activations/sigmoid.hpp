#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = 1 / (1 + exp(-x)). The input x may have any shape.
extern const Op sigmoid;
/// Maps (y, dy) to dx = dy·y·(1 - y).
extern const Op sigmoid_gradient;

}  // namespace penstock::graph
