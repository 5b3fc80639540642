#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = tanh(x). Input x of any shape.
extern const Op tanh;
/// (y, dy) -> dx = dy·(1 - y²).
extern const Op tanh_gradient;

}  // namespace penstock::graph
