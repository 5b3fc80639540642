// These ops take elements of a tensor along an axis by a list of indices that the model has.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Takes element `indices[i]` of x along the attribute `axis` (0 by default; a negative axis counts
/// from the end) as element i of the output. The attribute `indices` may list an element several
/// times or not at all. The elements of x may be of any type.
extern const Op index_select;
/// Maps (dy) to dx, which has `size` elements along the attribute `axis`. The elements of dy are
/// added, in their order, to the elements of dx from which they were taken.
extern const Op index_select_gradient;

}  // namespace penstock::graph
