// This pass puts buffers that live at different times into one block of memory. It is pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/passes/memory/buffer.hpp"

namespace penstock::graph {

struct MemoryPlan {
  /// Has the offset of each buffer; offsets are multiples of 64.
  std::vector<std::int64_t> offsets = {};
  std::int64_t bytes = 0;  ///< Counts the bytes of the whole block.
};

/// Gives buffers whose times overlap memory that does not overlap. The method is greedy: the
/// largest buffer comes first, and each gets the lowest place that is free for its whole time.
MemoryPlan plan_memory(std::span<const Buffer> buffers);

}  // namespace penstock::graph
