// These ops move elements by indices that are a tensor. The kernels throw Error invalid_data for an
// index that is no element: "index 12 at position 3: expected 0 to 10".
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps (x, index i64), of the same rank, to a tensor of the shape of `index`. Its element at a
/// position is that element of x whose position is the same, except that the position along the
/// attribute `axis` (0 by default) is the index (torch.gather). Along other axes, `index` may be
/// shorter than x. The elements of x may be of any type.
extern const Op gather;
/// Maps (x, index i64, source) to x with the elements of `source` added to those elements that
/// gather would take by the same index (torch.scatter_add). `source` has the shape of `index`. The
/// elements are added in the order of `source`. They are f32 or integers; a sum of integers that
/// their type does not hold wraps around.
extern const Op scatter_add;
/// Maps ids, i64 of any shape [...], to f32 [...,C] with a 1 at the position that the id gives and
/// 0 elsewhere. The attribute `classes` is C.
extern const Op one_hot;

}  // namespace penstock::graph
