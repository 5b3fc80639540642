// Lines are a tensor seen as lines along one axis.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Is a row-major tensor [outer, length, inner]: the elements of a line are `inner` apart.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

}  // namespace penstock::graph
