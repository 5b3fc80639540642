#include "engine/values/block_pool.hpp"

#include <atomic>

#include "engine/values/memory.hpp"

namespace penstock {

std::shared_ptr<std::byte> BlockPool::take(std::size_t bytes) {
  for (const Block& block : blocks_) {
    if (block.bytes < bytes || block.memory.use_count() != 1) continue;
    // Whatever the last holder did with the block happened before it dropped its handle.
    std::atomic_thread_fence(std::memory_order_acquire);
    return block.memory;
  }
  blocks_.push_back({bytes, allocate_block(bytes)});
  return blocks_.back().memory;
}

}  // namespace penstock
