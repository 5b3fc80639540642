// A LoaderBuffers is a pool of buffers for batches. A buffer is lent out, and comes back once
// nobody refers to it any more. A buffer that has not been needed for long can be freed. A buffer
// that is still lent when the pool is destroyed is freed by its last holder. One thread lends
// buffers; any thread may give them back. In a process that was forked meanwhile, a buffer is freed
// instead of given back.
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

/// A BatchBuffer has one block of memory per field of the samples.
using BatchBuffer = std::vector<std::shared_ptr<std::byte>>;

/// Returns, for each of `fields`, how many bytes the field takes for `rows` samples.
std::vector<std::size_t> block_bytes(const std::vector<SourceField>& fields, std::int64_t rows);

/// Makes `destinations` point to row number `row` of each block in `buffer`.
void point_to_row(const std::vector<SourceField>& fields, const BatchBuffer& buffer,
                  std::int64_t row, std::vector<std::byte*>& destinations);

/// Returns, for each of `fields`, a tensor [rows, field...] of the first `rows` rows in the field's
/// block of `buffer`. The tensors keep `buffer` alive.
std::vector<Tensor> tensors_of(const std::vector<SourceField>& fields, std::int64_t rows,
                               const std::shared_ptr<const BatchBuffer>& buffer);

class LoaderBuffers {
 public:
  /// Makes an empty pool. `block_bytes` says how many bytes the block of each field has.
  explicit LoaderBuffers(std::vector<std::size_t> block_bytes);

  /// Returns a buffer that has come back, or null if no buffer has.
  std::shared_ptr<const BatchBuffer> reuse();
  /// Returns a new buffer. @throws Error out_of_memory
  std::shared_ptr<const BatchBuffer> allocate();
  /// Returns a new buffer or, if there is no memory for one, a buffer that has come back.
  /// @throws Error out_of_memory if no buffer has come back either.
  std::shared_ptr<const BatchBuffer> allocate_or_reuse();
  /// While there are more than `usual` buffers, frees those that came back so long ago that buffers
  /// have been lent more than `idle_lends` times since.
  void trim(std::int64_t usual) noexcept;
  static constexpr std::uint64_t idle_lends = 64;
  /// Returns how many buffers there are, including those that are lent.
  int allocated() const noexcept { return allocated_; }

 private:
  struct Returned {
    std::unique_ptr<const BatchBuffer> buffer;
    std::uint64_t lends;  // Buffers had been lent this many times when this one came back.
  };
  struct Shelf {
    OwningProcess process;
    std::mutex mutex;
    std::vector<Returned> buffers;  // The buffers are in the order in which they came back.
    std::uint64_t lends = 0;
  };
  BatchBuffer blocks() const;
  std::shared_ptr<const BatchBuffer> lend(std::unique_ptr<const BatchBuffer> buffer);

  std::vector<std::size_t> block_bytes_;
  int allocated_ = 0;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace penstock::actors
