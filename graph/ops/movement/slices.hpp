// These ops cut a slice out of a tensor along an axis, or join tensors along an axis.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute axis{"axis"};
inline constexpr IntegerAttribute begin{"begin"};
inline constexpr IntegerAttribute end{"end"};
inline constexpr IntegerAttribute size{"size"};

}  // namespace attribute

/// Takes the elements of x from `begin` up to but without `end` along `axis`. `begin`, `end` and
/// `axis` are attributes, each of which is 0 by default; a negative axis counts from the end.
extern const Op slice;
/// Maps (dy) to dx, which is dy with zeros around it: along the attribute `axis`, dx has `size`
/// elements, and the elements of dy begin at element `begin`.
extern const Op slice_gradient;

/// Joins one or more tensors in their order along the attribute `axis` (0 by default; a negative
/// axis counts from the end). All other dimensions of the tensors must be the same.
extern const Op concat;

}  // namespace penstock::graph
