// A tensor seen as lines along one axis.
#pragma once

#include <cstdint>

#include "penstock/shape.hpp"

namespace penstock::graph {

/// Row-major [outer, length, inner]: the elements of a line are `inner` apart.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// `axis` is an axis of the shape; a negative one counts from the end.
Lines lines_along(const Shape& shape, std::int64_t axis);

}  // namespace penstock::graph
