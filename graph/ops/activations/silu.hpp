#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = x·s(x), s the logistic sigmoid. Input x of any shape.
extern const Op silu;
/// (x, dy) -> dx = dy·s(x)·(1 + x·(1 - s(x))).
extern const Op silu_gradient;

}  // namespace penstock::graph
