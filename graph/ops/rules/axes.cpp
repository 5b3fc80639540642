#include "graph/ops/rules/axes.hpp"

#include <vector>

namespace penstock::graph {

Lines lines_along(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < 0) axis += rank;
  Lines lines{.length = shape[axis]};
  for (std::int64_t i = 0; i < axis; ++i) lines.outer *= shape[i];
  for (std::int64_t i = axis + 1; i < rank; ++i) lines.inner *= shape[i];
  return lines;
}

std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (const std::int64_t dim : shape.dims().first(shape.rank() - 1)) rows *= dim;
  return rows;
}

Shape without_axis(const Shape& shape, std::size_t axis) {
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return Shape(dims);
}

Shape with_new_axis(const Shape& shape, std::size_t axis, std::int64_t size) {
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), size);
  return Shape(dims);
}

}  // namespace penstock::graph
