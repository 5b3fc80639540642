#include "actors/execution/block_pool.hpp"

#include <algorithm>
#include <atomic>

#include "graph/values/memory.hpp"

namespace penstock::actors {

void BlockPool::begin_round() {
  ++round_;
  for (Block& block : blocks_)
    if (!block.is_free()) block.held_in = round_;
  std::erase_if(blocks_, [&](const Block& block) { return round_ - block.held_in > idle_rounds; });
}

std::shared_ptr<std::byte> BlockPool::take(std::size_t bytes) {
  const std::size_t most = std::max(2 * bytes, small_bytes);
  Block* best = nullptr;
  for (Block& block : blocks_)
    if (block.bytes >= bytes && block.bytes <= most && (!best || block.bytes < best->bytes) &&
        block.is_free())
      best = &block;
  if (!best) return blocks_.emplace_back(Block{bytes, allocate_block(bytes), round_}).memory;
  best->held_in = round_;
  // This fence pairs with the last holder's dropping of its handle, so that all accesses by that
  // holder to the block happen before those by the new holder.
  std::atomic_thread_fence(std::memory_order_acquire);
  return best->memory;
}

}  // namespace penstock::actors
