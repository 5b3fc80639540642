// This pass puts buffers that live at different times into one block of memory. It is pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/passes/memory/buffer.hpp"

namespace penstock::graph {

struct MemoryPlan {
  /// Has the offset of each buffer in bytes, which is a multiple of 64.
  std::vector<std::int64_t> offsets = {};
  std::int64_t bytes = 0;  ///< Counts the bytes of the whole block.
};

/// Returns a place for each buffer. Buffers that are needed at the same time do not overlap in
/// memory. The method is greedy: the largest buffer comes first, and each buffer gets the lowest
/// place that is free as long as the buffer is needed.
MemoryPlan plan_memory(std::span<const Buffer> buffers);

}  // namespace penstock::graph
