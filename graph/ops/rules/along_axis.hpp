// Ops that work along one axis, which the attribute `axis` names, share these declarations. The
// axis is 0 by default, and a negative axis counts from the end.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/ops/rules/axes.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute axis{"axis"};

}  // namespace attribute

/// Returns the lines of a tensor along the axis that `attributes` name.
inline Lines lines_of(const Attributes& attributes, const Shape& shape) {
  return lines_along(shape, attribute::axis.of(attributes));
}

/// Serves as Op::units: a unit is all lines of x that have the same index before the axis, so that
/// their elements are neighbours in memory.
inline std::int64_t outer_units(const Attributes& attributes, Types in, Types) {
  return lines_of(attributes, in[0].shape).outer;
}

}  // namespace penstock::graph
