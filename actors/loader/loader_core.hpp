// LoaderCore: what to read next, and which batch is complete. All rules of the loader actor,
// without CAF and without threads: events go in, tasks and batches come out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader/loader_batch.hpp"
#include "actors/loader/loader_buffers.hpp"
#include "actors/loader/loader_order.hpp"
#include "actors/loader/loader_source.hpp"

namespace penstock::actors {

/// Rows of one batch that one worker reads. Row r of the batch is sample order[first + r].
struct ReadTask {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  RowRange rows = {};
  std::shared_ptr<const std::vector<std::int64_t>> order = {};
  std::int64_t first = 0;
  std::shared_ptr<const BatchBuffer> buffer = {};
};

struct ReadFailure {
  std::int64_t row = 0;  ///< in its batch
  LoadFailure why = {};
};

/// What has become of a task.
struct ReadResult {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  std::optional<ReadFailure> failure = {};
};

class LoaderCore {
 public:
  LoaderCore(const LoaderSource& source, const LoaderSettings& settings);

  /// Forgets the last epoch. What is still being read for it keeps its memory until it ends.
  /// @param plan what the epoch visits; null: what the settings say
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr);
  /// The consumer wants batch `batch` of the epoch and has no use for those before it.
  void ask(std::int64_t batch);
  /// The next task for a worker, if memory and the limit of batches ahead allow one.
  std::optional<ReadTask> next_task();
  void finish(const ReadResult& result);
  /// The batch that was asked for, once it is complete; again and again until another one is.
  std::optional<LoadedBatch> asked_batch();

  /// Batches being assembled or complete that the consumer has not had.
  std::int64_t batches_ahead() const noexcept;

 private:
  struct Assembly {
    std::int64_t batch = 0;
    std::int64_t rows = 0;
    std::shared_ptr<const BatchBuffer> buffer = {};
    std::vector<RowRange> parts = {};
    std::size_t parts_issued = 0;
    std::size_t parts_done = 0;
    std::optional<ReadFailure> failure = {};

    bool complete() const noexcept { return parts_done == parts.size(); }
  };

  EpochPlan usual_plan(std::uint64_t epoch) const;
  bool may_open() const noexcept;
  bool open_assembly();
  std::shared_ptr<const BatchBuffer> find_buffer();
  ReadTask issue(Assembly& assembly);

  std::vector<SourceField> fields_;
  std::int64_t samples_;
  LoaderSettings settings_;
  std::int64_t buffer_rows_;
  LoaderBuffers buffers_;
  std::uint64_t epoch_ = 0;
  std::shared_ptr<const EpochPlan> plan_;
  std::deque<Assembly> assemblies_;  // of consecutive batches
  std::int64_t opened_ = 0;          // batches of the epoch that have an assembly or had one
  std::int64_t asked_ = -1;
  std::int64_t delivered_ = 0;
  std::int64_t reading_ = 0;    // tasks issued and not finished
  std::int64_t abandoned_ = 0;  // those among them that belong to earlier epochs
  bool failed_ = false;
};

}  // namespace penstock::actors
