// These functions see a tensor as lines along one axis.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

/// Returns the lines along `axis` of `shape`; a negative axis counts from the end.
Lines lines_along(const Shape& shape, std::int64_t axis);
/// Returns the shape without the dimension `axis`, counted from the first.
Shape without_axis(const Shape& shape, std::size_t axis);
/// Returns the shape with a new dimension `axis` of `size`.
Shape with_new_axis(const Shape& shape, std::size_t axis, std::int64_t size);

}  // namespace penstock::graph
