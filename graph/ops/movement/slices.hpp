// These ops take tensors apart along an axis, and put them together.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute axis{"axis"};
inline constexpr IntegerAttribute begin{"begin"};
inline constexpr IntegerAttribute end{"end"};
inline constexpr IntegerAttribute size{"size"};

}  // namespace attribute

/// Takes the elements [begin, end) of x along `axis` (0 by default; a negative axis counts from the
/// end), which are three attributes.
extern const Op slice;
/// Maps (dy) to dx, which has dy at [begin, begin + its size) of an axis of the attribute `size`,
/// and zeros elsewhere.
extern const Op slice_gradient;

/// Puts one or more tensors behind one another along the attribute `axis` (0 by default; a negative
/// axis counts from the end). Their other dimensions are the same.
extern const Op concat;

}  // namespace penstock::graph
