// RunConstants are what every program reads besides its inputs.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::actors {

struct RunConstants {
  /// The number of the update to which a micro-batch belongs is this number plus the number of
  /// windows before the micro-batch.
  std::int64_t first_update = 0;
  float loss_scale = 1;  ///< This is the gradient of the loss with respect to itself.
};

/// CurrentConstants are the constants of the pipeline in one process. They are written between
/// calls. Any thread may read and write them, because another process may send new ones at any
/// time.
class CurrentConstants {
 public:
  explicit CurrentConstants(const RunConstants& first)
      : first_update_(first.first_update), loss_scale_(first.loss_scale) {}

  RunConstants now() const noexcept {
    return {.first_update = first_update_.load(std::memory_order_relaxed),
            .loss_scale = loss_scale_.load(std::memory_order_relaxed)};
  }
  void set_first_update(std::int64_t update) noexcept {
    first_update_.store(update, std::memory_order_relaxed);
  }
  void set_loss_scale(float scale) noexcept { loss_scale_.store(scale, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> first_update_;
  std::atomic<float> loss_scale_;
};

}  // namespace penstock::actors
