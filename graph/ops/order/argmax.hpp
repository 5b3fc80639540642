// These ops say where the extrema of a tensor are.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns the index, i64, of the largest element along the attribute `axis` (0 by default; a
/// negative axis counts from the end). A NaN is larger than any number; of equal elements, the
/// first one counts. The output lacks the axis, or has 1 there if the attribute keep (0 by default)
/// is 1.
extern const Op argmax;
/// Returns the index of the smallest element along an axis; a NaN is smaller than any number here.
/// The op does in all else what argmax does.
extern const Op argmin;

}  // namespace penstock::graph
