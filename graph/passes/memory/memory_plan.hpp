// Pass: one block of memory for buffers that live at different times. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/passes/memory/buffer.hpp"

namespace penstock::graph {

struct MemoryPlan {
  std::vector<std::int64_t> offsets = {};  ///< of each buffer; multiples of 64
  std::int64_t bytes = 0;                  ///< of the whole block
};

/// Buffers whose times overlap get memory that doesn't. Greedy: the largest buffer first, each at
/// the lowest place that is free for its whole time.
MemoryPlan plan_memory(std::span<const Buffer> buffers);

}  // namespace penstock::graph
