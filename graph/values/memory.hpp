// Tensor memory consists of zeroed, 64-byte aligned blocks. Each block is counted, so that tests
// can measure that nothing is allocated in steady state. Any thread may allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock {

inline constexpr std::size_t tensor_alignment = 64;

/// Returns `bytes` rounded up to the next multiple of `tensor_alignment`.
constexpr std::int64_t aligned(std::int64_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

/// Returns a zeroed block of at least `bytes` bytes. @throws Error out_of_memory
std::shared_ptr<std::byte> allocate_block(std::size_t bytes);

struct MemoryCounters {
  /// This many blocks were allocated since the process began.
  std::uint64_t blocks_allocated = 0;
  /// The blocks that are still in use have this many bytes, each block rounded up by aligned().
  std::uint64_t bytes_live = 0;
};
MemoryCounters memory_counters() noexcept;

}  // namespace penstock
