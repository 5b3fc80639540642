// This pass puts buffers that live at different times into one block of memory. It is pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/passes/memory/buffer.hpp"

namespace penstock::graph {

struct MemoryPlan {
  /// These are the offsets of the buffers in bytes, which are multiples of 64.
  std::vector<std::int64_t> offsets = {};
  std::int64_t bytes = 0;  ///< All buffers together take this many bytes.
};

/// Returns an offset for each of `buffers`. Buffers that are needed at the same time do not overlap
/// in memory. The method is greedy: the largest buffer comes first, and each buffer gets the lowest
/// offset that is free as long as the buffer is needed.
MemoryPlan plan_memory(std::span<const Buffer> buffers);

}  // namespace penstock::graph
