#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Repeats x, which broadcasts to the shape that the attribute `shape` gives, to that shape. A -1
/// in the attribute stands for the dimension that x has there. The elements of x may be of any
/// type.
extern const Op expand;

}  // namespace penstock::graph
