#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Elements [begin, end) of x along `axis` (0; negative counts from the end): three attributes.
extern const Op slice;
/// (dy) -> dx: dy at [begin, begin + its size) of an axis of attribute `size`, zeros elsewhere.
extern const Op slice_gradient;

}  // namespace penstock::graph
