// LoaderCore decides what to read next, and which batch is complete. It has all rules of the loader
// actor for samples that have numbers, without CAF and without threads: events go in, tasks and
// batches come out.
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

/// Asks one reader to read rows of one batch. Row r of the batch is sample number first + r of the
/// plan.
struct ReadTask {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  RowRange rows = {};
  std::shared_ptr<const EpochPlan> plan = {};
  std::int64_t first = 0;
  std::shared_ptr<const BatchBuffer> buffer = {};
};

struct ReadFailure {
  std::int64_t row = 0;  ///< Is the row's position in its batch.
  LoadFailure why = {};
};

/// Is the result of a task. It has a failure if a row could not be read.
struct ReadResult {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  std::optional<ReadFailure> failure = {};
};

class LoaderCore {
 public:
  LoaderCore(const LoaderSource& source, const LoaderSettings& settings);

  /// Forgets the last epoch, and begins epoch number `epoch`. Tasks of the last epoch that are
  /// still under way keep their memory until they end. The new epoch visits what `plan` says, or
  /// what the settings say if `plan` is null. If there is no memory to plan the epoch, each ask()
  /// tries again, and asked_batch() returns the failure until a try succeeds.
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr) noexcept;
  /// Says that the consumer wants batch `batch` of the epoch and no longer needs earlier ones.
  void ask(std::int64_t batch) noexcept;
  /// Returns whether there is a task to hand out. A batch that is not read yet needs a free buffer,
  /// and the settings limit how many batches are read ahead.
  /// @throws Error out_of_memory or std::bad_alloc if there is no memory for the next batch.
  /// Nothing has changed then, and the next call tries again.
  bool has_task();
  /// Returns the next task. The caller calls this only after has_task() has returned true.
  ReadTask take_task() noexcept;
  void finish(ReadResult result) noexcept;
  /// Returns whether some task of this epoch has been taken and not finished.
  bool reads() const noexcept { return reading_ > abandoned_; }
  /// Returns the batch that was asked for, or the reason why there is none. Returns nothing while
  /// the batch is not complete. Further calls return the batch again until another one is asked
  /// for.
  /// @throws std::bad_alloc if there is no memory for its tensors; the next call tries again.
  std::optional<LoadedBatch> asked_batch();

  /// Returns how many batches are complete or being assembled that the consumer has not had yet.
  std::int64_t batches_ahead() const noexcept;

 private:
  struct Assembly {
    std::int64_t batch = 0;
    std::int64_t rows = 0;
    std::shared_ptr<const BatchBuffer> buffer = {};
    std::vector<RowRange> ranges = {};
    std::size_t ranges_issued = 0;
    std::size_t ranges_done = 0;
    std::optional<ReadFailure> failure = {};

    bool complete() const noexcept { return ranges_done == ranges.size(); }
  };

  EpochPlan usual_plan(std::uint64_t epoch) const;
  void make_plan() noexcept;
  bool may_open() const noexcept;
  bool open_assembly();
  std::shared_ptr<const BatchBuffer> find_buffer();

  std::vector<SourceField> fields_;
  std::int64_t samples_;
  LoaderSettings settings_;
  std::int64_t buffer_rows_;
  LoaderBuffers buffers_;
  std::uint64_t epoch_ = 0;
  std::shared_ptr<const EpochPlan> requested_plan_;  // Is the plan of start_epoch(), or null.
  std::shared_ptr<const EpochPlan> plan_;
  std::optional<LoadFailure> no_plan_;  // Says why the epoch has no plan, if it has none.
  std::deque<Assembly> assemblies_;     // Has the assemblies of consecutive batches.
  std::int64_t opened_ = 0;  // Counts the batches of the epoch that have an assembly or had one.
  std::int64_t asked_ = -1;
  std::int64_t delivered_ = 0;
  std::int64_t reading_ = 0;    // Counts the tasks that were taken and have not finished.
  std::int64_t abandoned_ = 0;  // Counts the tasks in `reading_` that belong to earlier epochs.
  bool failed_ = false;
};

}  // namespace penstock::actors
