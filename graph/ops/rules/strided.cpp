#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

Strides dense_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape.begin()[axis];
  }
  return strides;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides dense = dense_strides(from);
  const std::size_t missing = to.rank() - from.rank();
  Strides strides{};
  for (std::size_t axis = 0; axis < from.rank(); ++axis)
    if (from.begin()[axis] != 1) strides[missing + axis] = dense[axis];
  return strides;
}

}  // namespace penstock::graph
