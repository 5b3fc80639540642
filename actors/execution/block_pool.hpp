// A BlockPool has blocks of tensor memory that are handed out, dropped and handed out again. It
// allocates a block only if no free block fits, and frees blocks that have not been held for a
// while. One thread takes blocks; any thread may drop them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace penstock::actors {

class BlockPool {
 public:
  /// The pool keeps a block that nobody holds for this many rounds.
  static constexpr std::uint64_t idle_rounds = 16;
  /// A block of up to this size is handed out even if less than half of it is asked for.
  static constexpr std::size_t small_bytes = 4096;

  /// Begins a new round. Frees each block that nobody has held for more than `idle_rounds` rounds.
  void begin_round();
  /// Returns a block of at least `bytes` bytes that nobody else holds, with whatever content its
  /// last holder left. The block returns to the pool when its last handle is dropped, and may
  /// outlive the pool.
  /// @throws Error out_of_memory
  std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  struct Block {
    std::size_t bytes;
    std::shared_ptr<std::byte> memory;
    std::uint64_t held_in;  // This is the last round in which somebody was known to hold the block.
    bool is_free() const { return memory.use_count() == 1; }
  };
  std::vector<Block> blocks_;
  std::uint64_t round_ = 0;
};

}  // namespace penstock::actors
