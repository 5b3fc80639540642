#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute axis{"axis"};
inline constexpr IntegerAttribute begin{"begin"};
inline constexpr IntegerAttribute end{"end"};
inline constexpr IntegerAttribute size{"size"};

}  // namespace attribute

/// Elements [begin, end) of x along `axis` (0; negative counts from the end): three attributes.
extern const Op slice;
/// (dy) -> dx: dy at [begin, begin + its size) of an axis of attribute `size`, zeros elsewhere.
extern const Op slice_gradient;

}  // namespace penstock::graph
