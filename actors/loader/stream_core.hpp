// StreamCore has all rules of the loader of streams, without CAF and without threads. Workers take
// turns, always in the same order, and each fills a chunk: a batch of its own or, with `rebatched`,
// some rows of a batch. A worker whose stream has ended is left out, so that the batches depend on
// the streams alone.
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

/// Asks one worker to fill rows 0 to rows-1 of `buffer` from its stream.
struct FillTask {
  std::uint64_t epoch = 0;
  std::int64_t chunk = 0;
  int worker = 0;
  std::int64_t rows = 0;
  std::shared_ptr<const BatchBuffer> buffer = {};
};

/// Says what has become of a task. If it has filled fewer rows than the task asked for, the stream
/// has ended.
struct FillResult {
  std::uint64_t epoch = 0;
  std::int64_t chunk = 0;
  std::int64_t filled = 0;
  std::optional<LoadFailure> failure = {};
};

class StreamCore {
 public:
  StreamCore(const StreamSource& source, const StreamSettings& settings);

  /// Forgets the last epoch. What is still being read for it keeps its memory until it ends.
  void start_epoch(std::uint64_t epoch) noexcept;
  /// Says that the consumer wants batch `batch` of the epoch and has no use for those before it.
  void ask(std::int64_t batch) noexcept;
  /// Returns whether there is a task, as memory and the limit of batches ahead allow.
  /// @throws Error out_of_memory or std::bad_alloc if there is no memory for it. Nothing has
  /// changed then, and the next call tries again.
  bool has_task();
  /// Returns the task that there is, for the worker that it names. has_task() has returned true
  /// before.
  FillTask take_task() noexcept;
  void finish(FillResult result) noexcept;
  /// Returns whether some task of this epoch has been taken and not finished.
  bool reads() const noexcept { return reading_ > abandoned_; }
  /// Returns the batch that was asked for, once it is complete, and again until another one is
  /// asked for. @throws Error out_of_memory or std::bad_alloc if there is no memory for it; the
  /// next call tries again.
  std::optional<LoadedBatch> asked_batch();

 private:
  struct Chunk {
    std::int64_t number = 0;
    int worker = 0;
    std::shared_ptr<const BatchBuffer> buffer = {};
    bool done = false;
    std::int64_t filled = 0;
    std::int64_t used = 0;  // Counts the rows that are in a batch already.
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
  std::vector<std::size_t> row_bytes_;  // Has the bytes of each field.
  LoaderBuffers chunk_buffers_;
  LoaderBuffers batch_buffers_;  // Serves rebatched batches.
  bool begun_ = false;
  std::uint64_t epoch_ = 0;
  std::deque<Chunk> chunks_;     // Are ordered by their numbers.
  std::vector<bool> ended_;      // Says by worker whether its stream has ended.
  bool opened_ = false;          // Says whether the last chunk is open: its task was not taken yet.
  std::int64_t next_chunk_ = 0;  // Is the number of the next chunk.
  int turn_ = 0;                 // Is the worker whose turn it is.
  // Is the rebatched batch that is being put together.
  std::shared_ptr<const BatchBuffer> partial_;
  std::int64_t partial_rows_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t asked_ = -1;
  std::optional<LoadedBatch> answer_;  // Is the answer for batch number `asked_`.
  std::int64_t reading_ = 0;           // Counts the tasks that were taken and have not finished.
  std::int64_t abandoned_ = 0;  // Counts the tasks in `reading_` that belong to earlier epochs.
  bool failed_ = false;
};

}  // namespace penstock::actors
