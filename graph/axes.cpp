#include "graph/axes.hpp"

namespace penstock::graph {

Lines lines_along(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < 0) axis += rank;
  Lines lines{.length = shape[axis]};
  for (std::int64_t i = 0; i < axis; ++i) lines.outer *= shape[i];
  for (std::int64_t i = axis + 1; i < rank; ++i) lines.inner *= shape[i];
  return lines;
}

}  // namespace penstock::graph
