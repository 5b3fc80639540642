#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the product of the elements along the axes that the attribute axes lists; see sum. The
/// gradient of an element is the product of the others, also where some of them are 0.
extern const Op prod;
/// Maps (x, dy) to dx.
extern const Op prod_gradient;

}  // namespace penstock::graph
