#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = 1 / (1 + exp(-x)). Input x of any shape.
extern const Op sigmoid;
/// (y, dy) -> dx = dy·y·(1 - y).
extern const Op sigmoid_gradient;

}  // namespace penstock::graph
