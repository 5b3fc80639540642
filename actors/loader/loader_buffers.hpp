// LoaderBuffers is a pool of buffers for batches. A buffer is lent out, and comes back once nobody
// refers to it any more. A buffer that has not been needed for long can be freed. A buffer that is
// still lent when the pool is destroyed is freed by its last holder. One thread lends; any thread
// may give back. In a process that was forked meanwhile, a buffer is freed instead of given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/loader/loader_source.hpp"
#include "actors/system/owning_process.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// Has one block of memory per field of the samples.
using BatchBuffer = std::vector<std::shared_ptr<std::byte>>;

/// Returns, for each field, how many bytes that field of `rows` samples takes.
std::vector<std::size_t> block_bytes(const std::vector<SourceField>& fields, std::int64_t rows);

/// Makes `destinations` point to row `row` of each block.
void point_to_row(const std::vector<SourceField>& fields, const BatchBuffer& buffer,
                  std::int64_t row, std::vector<std::byte*>& destinations);

/// Returns, for each field, a tensor [rows, field...] of the first `rows` rows in the field's
/// block. The tensors keep `buffer` alive.
std::vector<Tensor> tensors_of(const std::vector<SourceField>& fields, std::int64_t rows,
                               const std::shared_ptr<const BatchBuffer>& buffer);

class LoaderBuffers {
 public:
  /// Makes an empty pool. `block_bytes` has, for each field, the bytes of a buffer's block.
  explicit LoaderBuffers(std::vector<std::size_t> block_bytes);

  /// Returns a buffer that has come back, or null if none has.
  std::shared_ptr<const BatchBuffer> reuse();
  /// Returns a new buffer. @throws Error out_of_memory
  std::shared_ptr<const BatchBuffer> allocate();
  /// Returns a new buffer, or one that has come back if there is no memory for a new one.
  /// @throws Error out_of_memory if no buffer has come back either.
  std::shared_ptr<const BatchBuffer> allocate_or_reuse();
  /// Frees buffers that came back before the last `idle_lends` times at which one was lent, as long
  /// as there are more than `usual` buffers.
  void trim(std::int64_t usual) noexcept;
  static constexpr std::uint64_t idle_lends = 64;
  /// Returns how many buffers there are, lent or not.
  int allocated() const noexcept { return allocated_; }

 private:
  struct Returned {
    std::unique_ptr<const BatchBuffer> buffer;
    std::uint64_t lends;  // Says how often a buffer had been lent when this one came back.
  };
  struct Shelf {
    OwningProcess process;
    std::mutex mutex;
    std::vector<Returned> buffers;  // Has the buffers in the order in which they came back.
    std::uint64_t lends = 0;
  };
  BatchBuffer blocks() const;
  std::shared_ptr<const BatchBuffer> lend(std::unique_ptr<const BatchBuffer> buffer);

  std::vector<std::size_t> block_bytes_;
  int allocated_ = 0;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace penstock::actors
