// A Buffer is memory that a program needs during some of its instructions. This header is plain
// data.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A Buffer is needed from instruction `first` to instruction `last` of a program, both included.
struct Buffer {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t bytes = 0;
};

}  // namespace penstock::graph
