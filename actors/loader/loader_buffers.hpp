// LoaderBuffers have the memory of batches, which is lent out and used again once nobody refers to
// it any more. What has been of no use for long can be freed. What is still lent when the pool is
// destroyed is freed by its last holder. One thread lends; any thread gives back, also in a process
// that was forked meanwhile, where the memory is freed instead.
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

/// Has one block per field of the samples.
using BatchBuffer = std::vector<std::shared_ptr<std::byte>>;

/// Returns the bytes that each field of `rows` samples takes.
std::vector<std::size_t> block_bytes(const std::vector<SourceField>& fields, std::int64_t rows);

/// Makes `destinations` point to row `row` of each block.
void point_to_row(const std::vector<SourceField>& fields, const BatchBuffer& buffer,
                  std::int64_t row, std::vector<std::byte*>& destinations);

/// Returns the first `rows` rows of each block, [rows, field...]; they hold the buffer.
std::vector<Tensor> tensors_of(const std::vector<SourceField>& fields, std::int64_t rows,
                               const std::shared_ptr<const BatchBuffer>& buffer);

class LoaderBuffers {
 public:
  /// Makes a pool whose blocks of a whole batch have `block_bytes` bytes, by field.
  explicit LoaderBuffers(std::vector<std::size_t> block_bytes);

  /// Returns a buffer that has come back, or null if none has.
  std::shared_ptr<const BatchBuffer> reuse();
  /// Returns a new one. @throws Error out_of_memory
  std::shared_ptr<const BatchBuffer> allocate();
  /// Returns a new buffer, or one that has come back if there is no memory for a new one.
  /// @throws Error out_of_memory if none has come back either.
  std::shared_ptr<const BatchBuffer> allocate_or_reuse();
  /// Frees what nobody has needed for the last `idle_lends` times, as long as there are more than
  /// `usual` buffers.
  void trim(std::int64_t usual) noexcept;
  static constexpr std::uint64_t idle_lends = 64;
  /// Returns how many buffers there are.
  int allocated() const noexcept { return allocated_; }

 private:
  struct Returned {
    std::unique_ptr<const BatchBuffer> buffer;
    std::uint64_t lends;  // Says how often memory had been lent when the buffer came back.
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
