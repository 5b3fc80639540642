#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x·s(x), where s is the logistic sigmoid. The input x may have any shape.
extern const Op silu;
/// Maps (x, dy) to dx = dy·s(x)·(1 + x·(1 - s(x))).
extern const Op silu_gradient;

}  // namespace penstock::graph
