// A tensor seen as lines along one axis.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/lines.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

/// `axis` is an axis of the shape; a negative one counts from the end.
Lines lines_along(const Shape& shape, std::int64_t axis);
/// The shape without dimension `axis`, counted from the first.
Shape without_axis(const Shape& shape, std::size_t axis);
/// The shape with a new dimension `axis` of that size.
Shape with_new_axis(const Shape& shape, std::size_t axis, std::int64_t size);

}  // namespace penstock::graph
