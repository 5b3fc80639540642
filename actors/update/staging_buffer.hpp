// A StagingBuffer is the scratch memory of an IPU while the IPU works on a weight update: it takes
// pieces of the tensors that the host store keeps, side by side. Only the IPU's thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/plan/heartbeat.hpp"
#include "penstock/report.hpp"

namespace penstock::actors {

class StagingBuffer {
 public:
  StagingBuffer() = default;
  /// Takes scratch memory, and a heartbeat that beats with each copy unless it is null.
  explicit StagingBuffer(std::span<std::byte> scratch, graph::Heartbeat* heartbeat = nullptr)
      : scratch_(scratch), heartbeat_(heartbeat) {}

  std::int64_t bytes() const { return std::ssize(scratch_); }
  /// Returns room for `count` elements: number `slot` of those of the same size.
  std::span<float> room(std::int64_t slot, std::int64_t count) const;
  /// Returns the same room, with a copy of what is at `from`, and counts the copy.
  std::span<float> load(std::int64_t slot, const float* from, std::int64_t count,
                        OffloadReport& moves) const;
  /// Copies a piece back to where it belongs, and counts the copy.
  void store(std::span<const float> piece, float* to, OffloadReport& moves) const;
  graph::Heartbeat* heartbeat() const noexcept { return heartbeat_; }
  /// Notes that some of the update's work is done that was no copy.
  void beat() const noexcept {
    if (heartbeat_) heartbeat_->beat();
  }

 private:
  std::span<std::byte> scratch_;
  graph::Heartbeat* heartbeat_ = nullptr;
};

}  // namespace penstock::actors
