// A StreamCore has all rules of the loader's actor for streams, without CAF and without threads.
// Workers take turns, always in the same order. In its turn, a worker fills a chunk: a whole batch
// or, with StreamSettings::rebatched, some rows of a batch. A worker whose stream has ended is left
// out. Thus the batches depend only on the streams, and not on timing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader/loader_batch.hpp"
#include "actors/loader/loader_buffers.hpp"
#include "actors/loader/stream_source.hpp"

namespace penstock::actors {

/// A FillTask asks one worker to fill the rows 0 to rows-1 of `buffer` from its stream.
struct FillTask {
  std::uint64_t epoch = 0;
  std::int64_t chunk = 0;
  int worker = 0;
  std::int64_t rows = 0;
  std::shared_ptr<const BatchBuffer> buffer = {};
};

/// A FillResult is the result of a task. If fewer rows have been filled than the task asked for,
/// the stream has ended or failed, or its epoch is no longer wanted.
struct FillResult {
  std::uint64_t epoch = 0;
  std::int64_t chunk = 0;
  std::int64_t filled = 0;
  std::optional<LoadFailure> failure = {};
};

class StreamCore {
 public:
  StreamCore(const StreamSource& source, const StreamSettings& settings);

  /// Forgets the last epoch, and begins epoch number `epoch`. Tasks of the last epoch that are
  /// still under way keep their memory until they end.
  void start_epoch(std::uint64_t epoch) noexcept;
  /// Notes that the consumer wants batch number `batch` of the epoch and no longer needs earlier
  /// ones.
  void ask(std::int64_t batch) noexcept;
  /// Returns whether there is a task to hand out. For a chunk whose reading has not begun, there is
  /// none if no buffer is free, or if the settings allow no further chunk to be read ahead.
  /// @throws Error out_of_memory or std::bad_alloc if there is no memory for the next chunk. In
  /// that case nothing has changed, and the next call tries again.
  bool has_task();
  /// Returns the next task, with the number of the worker that does it. The caller calls this only
  /// after has_task() has returned true.
  FillTask take_task() noexcept;
  void finish(FillResult result) noexcept;
  /// Returns whether some task of this epoch has been taken and has not finished.
  bool reads() const noexcept { return reading_ > abandoned_; }
  /// Returns the batch that the consumer asked for last, or the reason why there is none. Returns
  /// nothing while the batch is not complete. Further calls return the batch again until the
  /// consumer asks for another one.
  /// @throws Error out_of_memory or std::bad_alloc if there is no memory for the batch; the next
  /// call tries again.
  std::optional<LoadedBatch> asked_batch();

 private:
  struct Chunk {
    std::int64_t number = 0;
    int worker = 0;
    std::shared_ptr<const BatchBuffer> buffer = {};
    bool done = false;
    std::int64_t filled = 0;
    std::int64_t used = 0;  // This many rows are in a batch already.
    std::optional<LoadFailure> failure = {};
  };

  bool may_open() const noexcept;
  std::shared_ptr<const BatchBuffer> find_buffer();
  bool all_ended() const noexcept;
  std::optional<LoadedBatch> assemble();
  std::optional<LoadedBatch> own_batch(const Chunk& chunk);
  std::optional<LoadedBatch> add_to_batch(Chunk& chunk);
  LoadedBatch whole_batch();
  LoadedBatch last_batch();
  LoadedBatch batch_of(std::int64_t rows, std::shared_ptr<const BatchBuffer> buffer) const;

  std::vector<SourceField> fields_;
  StreamSettings settings_;
  std::int64_t chunk_rows_;
  std::vector<std::size_t> row_bytes_;  // This has, for each field, the bytes of one row.
  LoaderBuffers chunk_buffers_;
  LoaderBuffers batch_buffers_;  // These are for rebatched batches.
  bool begun_ = false;
  std::uint64_t epoch_ = 0;
  std::deque<Chunk> chunks_;  // The chunks are in the order of their numbers.
  std::vector<bool> ended_;   // This says of each worker whether its stream has ended.
  bool opened_ = false;       // If this is true, the task of the last chunk has not been taken yet.
  std::int64_t next_chunk_ = 0;  // This is the number of the next chunk.
  int turn_ = 0;                 // It is the turn of the worker with this number.
  // This is the rebatched batch that is being put together.
  std::shared_ptr<const BatchBuffer> partial_;
  std::int64_t partial_rows_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t asked_ = -1;
  std::optional<LoadedBatch> answer_;  // This is the answer for batch number `asked_`.
  std::int64_t reading_ = 0;           // This many tasks were taken and have not finished.
  std::int64_t abandoned_ = 0;  // This many of the tasks in `reading_` belong to earlier epochs.
  bool failed_ = false;
};

}  // namespace penstock::actors
