// BlockPool: blocks of tensor memory that are handed out, dropped and handed out again. Grows to
// as many blocks as are ever held at once, then allocates no more. Taken from by one thread; the
// blocks may be dropped by any.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace penstock {

class BlockPool {
 public:
  /// A block of at least `bytes` bytes that nobody else holds, with whatever its last holder left
  /// in it. It returns to the pool when its last handle is dropped, and may outlive the pool.
  std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  struct Block {
    std::size_t bytes;
    std::shared_ptr<std::byte> memory;
  };
  std::vector<Block> blocks_;
};

}  // namespace penstock
