// An UpdateCount counts the updates that the weights of a pipeline's first replica have had. The
// updates of other replicas are not counted, because the host reads the weights of the first
// replica. Any thread may use an UpdateCount.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace penstock::actors {

class UpdateCount {
 public:
  /// Counts on from the number that `updates` points to, or from 0 if `updates` is null. A replica
  /// has `stages` stages.
  explicit UpdateCount(std::size_t stages,
                       std::shared_ptr<std::atomic<std::uint64_t>> updates = nullptr)
      : stages_(stages),
        updates_(updates ? std::move(updates) : std::make_shared<std::atomic<std::uint64_t>>(0)) {}

  /// Notes that a stage of the first replica has done its update. Once all stages of the replica
  /// have done it, the update is counted. No stage begins the next update before that.
  void count_stage() noexcept {
    if (++stages_done_ % stages_ == 0) ++*updates_;
  }
  std::uint64_t total() const noexcept { return *updates_; }
  void set(std::uint64_t updates) noexcept { *updates_ = updates; }

 private:
  const std::size_t stages_;
  std::atomic<std::size_t> stages_done_{0};
  std::shared_ptr<std::atomic<std::uint64_t>> updates_;
};

}  // namespace penstock::actors
