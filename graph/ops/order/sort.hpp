#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sorts x along the attribute `axis` (0 by default; a negative axis counts from the end). Output 0
/// has the elements, and output 1, i64, their indices in x. Smaller elements come first or, if the
/// attribute descending (0 by default) is 1, larger ones. A NaN is larger than any number; of equal
/// elements, the one with the lower index comes first. If the attribute `count` is set, only that
/// many elements are kept, the first ones. The gradient goes to the elements that are kept.
extern const Op sort;

}  // namespace penstock::graph
