// An UpdateCount counts the updates that the weights of a pipeline have had. Each replica does a
// part of an update, so that an update is done when all replicas have done it. Any thread may use
// an UpdateCount.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace penstock::actors {

class UpdateCount {
 public:
  /// Counts on from the number that `updates` points to, or from 0 if `updates` is null. All
  /// replicas together have `stages` stages.
  explicit UpdateCount(std::size_t stages,
                       std::shared_ptr<std::atomic<std::uint64_t>> updates = nullptr)
      : stages_(stages),
        updates_(updates ? std::move(updates) : std::make_shared<std::atomic<std::uint64_t>>(0)) {}

  /// Notes that a stage has done its update. Once all stages have done it, the update is counted.
  /// No stage begins the next update before that.
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
