#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the sums of the first elements of x along the attribute `axis` (0 by default; a
/// negative axis counts from the end): element i of the output is the sum of the elements of x up
/// to element i. If the attribute reverse (0 by default) is 1, it is the sum of the elements from i
/// on, the last one first. The sums are computed in double.
extern const Op cumsum;

}  // namespace penstock::graph
