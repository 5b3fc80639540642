// These functions are for ops that work along one axis of a tensor.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

/// Returns the lines along `axis` of `shape`; a negative axis counts from the end.
Lines lines_along(const Shape& shape, std::int64_t axis);
/// Returns the number of rows of a tensor whose last axis runs along the rows: the product of all
/// dimensions but the last one.
std::int64_t rows_of(const Shape& shape);
/// Returns `shape` without dimension `axis`, which is 0 for the first dimension.
Shape without_axis(const Shape& shape, std::size_t axis);
/// Returns `shape` with a new dimension of size `size` at position `axis`.
Shape with_new_axis(const Shape& shape, std::size_t axis, std::int64_t size);

}  // namespace penstock::graph
