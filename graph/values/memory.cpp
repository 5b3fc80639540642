#include "graph/values/memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

std::atomic<std::uint64_t> blocks_allocated{0};
std::atomic<std::uint64_t> bytes_live{0};

/// A block of at least this many bytes is mapped by itself. The system gives it memory page by
/// page, where it is written to, and gets that memory back as soon as the block is freed.
constexpr std::size_t least_mapped_bytes = std::size_t{1} << 20;

/// AddressSanitizer notices accesses beyond the end of a block that is not mapped.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool maps_blocks = false;
#elif defined(__has_feature)
constexpr bool maps_blocks = !__has_feature(address_sanitizer);
#else
constexpr bool maps_blocks = true;
#endif

/// Returns a zeroed block of `size` bytes that is mapped, or null if there is no memory.
std::shared_ptr<std::byte> mapped_block(std::size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [size](std::byte* block) {
            bytes_live.fetch_sub(size, std::memory_order_relaxed);
            munmap(block, size);
          }};
}

/// Returns a zeroed block of `size` bytes of the heap, or null if there is no memory.
std::shared_ptr<std::byte> heap_block(std::size_t size) {
  void* const memory = ::operator new (size, std::align_val_t{tensor_alignment}, std::nothrow);
  if (!memory) return nullptr;
  std::memset(memory, 0, size);
  return {static_cast<std::byte*>(memory), [size](std::byte* block) {
            bytes_live.fetch_sub(size, std::memory_order_relaxed);
            ::operator delete (block, std::align_val_t{tensor_alignment});
          }};
}

}  // namespace

std::shared_ptr<std::byte> allocate_block(std::size_t bytes) {
  const std::size_t size =
      static_cast<std::size_t>(aligned(static_cast<std::int64_t>(bytes ? bytes : 1)));
  bytes_live.fetch_add(size, std::memory_order_relaxed);
  const bool is_mapped = maps_blocks && size >= least_mapped_bytes;
  std::shared_ptr<std::byte> block = is_mapped ? mapped_block(size) : heap_block(size);
  if (!block) {
    bytes_live.fetch_sub(size, std::memory_order_relaxed);
    throw Error(Errc::out_of_memory,
                "no memory for a tensor of " + std::to_string(bytes) + " bytes");
  }
  blocks_allocated.fetch_add(1, std::memory_order_relaxed);
  return block;
}

MemoryCounters memory_counters() noexcept {
  return {blocks_allocated.load(std::memory_order_relaxed),
          bytes_live.load(std::memory_order_relaxed)};
}

}  // namespace penstock
