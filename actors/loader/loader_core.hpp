// A LoaderCore has all rules of the loader's actor for samples that have numbers, without CAF and
// without threads. It decides what is read next, and knows which batches are complete.
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

/// A ReadTask asks one reader to read the rows `rows` of one batch. Row r of the batch is sample
/// number first + r of `plan`.
struct ReadTask {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  RowRange rows = {};
  std::shared_ptr<const EpochPlan> plan = {};
  std::int64_t first = 0;
  std::shared_ptr<const BatchBuffer> buffer = {};
};

struct ReadFailure {
  std::int64_t row = 0;  ///< This is the row's position in its batch.
  LoadFailure why = {};
};

/// A ReadResult is the result of a task. It has a failure if a row could not be read.
struct ReadResult {
  std::uint64_t epoch = 0;
  std::int64_t batch = 0;
  std::optional<ReadFailure> failure = {};
};

class LoaderCore {
 public:
  LoaderCore(const LoaderSource& source, const LoaderSettings& settings);

  /// Forgets the last epoch, and begins epoch number `epoch`. Tasks of the last epoch that are
  /// still under way keep their memory until they end. The new epoch visits the samples of `plan`;
  /// if `plan` is null, it visits those that the settings ask for. Batches before number
  /// `first_batch`, which is at most the number of the epoch's batches, are not read. If there is
  /// no memory to plan the epoch, each ask() tries again, and asked_batch() returns the failure
  /// until a try succeeds.
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr,
                   std::int64_t first_batch = 0) noexcept;
  /// Notes that the consumer wants batch number `batch` of the epoch and no longer needs earlier
  /// ones.
  void ask(std::int64_t batch) noexcept;
  /// Returns whether there is a task to hand out. For a batch whose reading has not begun, there is
  /// none if no buffer is free, or if the settings allow no further batch to be read ahead.
  /// @throws Error out_of_memory or std::bad_alloc if there is no memory for the next batch. In
  /// that case nothing has changed, and the next call tries again.
  bool has_task();
  /// Returns the next task. The caller calls this only after has_task() has returned true.
  ReadTask take_task() noexcept;
  void finish(ReadResult result) noexcept;
  /// Returns whether some task of this epoch has been taken and has not finished.
  bool reads() const noexcept { return reading_ > abandoned_; }
  /// Returns the batch that the consumer asked for last, or the reason why there is none. Returns
  /// nothing while the batch is not complete. Further calls return the batch again until the
  /// consumer asks for another one.
  /// @throws std::bad_alloc if there is no memory for the batch's tensors; the next call tries
  /// again.
  std::optional<LoadedBatch> asked_batch();

  /// Returns how many batches that the consumer has not had yet are complete or being assembled.
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
  std::shared_ptr<const EpochPlan> requested_plan_;  // This is the argument of start_epoch().
  std::shared_ptr<const EpochPlan> plan_;
  std::optional<LoadFailure> no_plan_;  // If the epoch has no plan, this is why.
  std::deque<Assembly> assemblies_;     // These are the assemblies of consecutive batches.
  std::int64_t opened_ = 0;  // This many batches of the epoch have an assembly or had one.
  std::int64_t asked_ = -1;
  std::int64_t delivered_ = 0;
  std::int64_t reading_ = 0;    // This many tasks were taken and have not finished.
  std::int64_t abandoned_ = 0;  // This many of the tasks in `reading_` belong to earlier epochs.
  bool failed_ = false;
};

}  // namespace penstock::actors
