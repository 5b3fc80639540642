#include "graph/values/memory.hpp"

#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

std::atomic<std::uint64_t> blocks_allocated{0};
std::atomic<std::uint64_t> bytes_live{0};

}  // namespace

std::shared_ptr<std::byte> allocate_block(std::size_t bytes) {
  const std::size_t size =
      static_cast<std::size_t>(aligned(static_cast<std::int64_t>(bytes ? bytes : 1)));
  auto* block = static_cast<std::byte*>(
      ::operator new (size, std::align_val_t{tensor_alignment}, std::nothrow));
  if (!block)
    throw Error(Errc::out_of_memory,
                "no memory for a tensor of " + std::to_string(bytes) + " bytes");
  std::memset(block, 0, size);
  blocks_allocated.fetch_add(1, std::memory_order_relaxed);
  bytes_live.fetch_add(size, std::memory_order_relaxed);
  return {block, [size](std::byte* memory) {
            bytes_live.fetch_sub(size, std::memory_order_relaxed);
            ::operator delete (memory, std::align_val_t{tensor_alignment});
          }};
}

MemoryCounters memory_counters() noexcept {
  return {blocks_allocated.load(std::memory_order_relaxed),
          bytes_live.load(std::memory_order_relaxed)};
}

}  // namespace penstock
