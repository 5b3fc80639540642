// What the program takes from the heap. A test that asks has its `operator new` replaced.
#pragma once

#include <cstdint>

namespace penstock::testing {

/// Calls of `operator new` by the calling thread so far.
std::uint64_t heap_allocations() noexcept;

/// The most bytes of aligned memory, of which tensors and IPUs have theirs, that there were at a
/// time since the last call. Of all threads.
std::int64_t take_most_block_bytes() noexcept;

/// While it lives, the system has no aligned memory for blocks of so many bytes or more. One at a
/// time.
class NoBlocksFrom {
 public:
  explicit NoBlocksFrom(std::int64_t bytes) noexcept;
  ~NoBlocksFrom();
  NoBlocksFrom(const NoBlocksFrom&) = delete;
  NoBlocksFrom& operator=(const NoBlocksFrom&) = delete;
};

}  // namespace penstock::testing
