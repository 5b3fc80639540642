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
  /// Makes a buffer of the memory `scratch`. Unless `heartbeat` is null, it beats with each copy.
  explicit StagingBuffer(std::span<std::byte> scratch, graph::Heartbeat* heartbeat = nullptr)
      : scratch_(scratch), heartbeat_(heartbeat) {}

  std::int64_t bytes() const { return std::ssize(scratch_); }
  /// Returns slot number `slot` of the buffer, which is divided into slots of `count` elements.
  std::span<float> room(std::int64_t slot, std::int64_t count) const;
  /// Copies `count` elements from `from` to room(slot, count), and returns that slot. Counts the
  /// copy in `moves`.
  std::span<float> load(std::int64_t slot, const float* from, std::int64_t count,
                        OffloadReport& moves) const;
  /// Copies `piece` back to `to`, where it belongs, and counts the copy in `moves`.
  void store(std::span<const float> piece, float* to, OffloadReport& moves) const;
  graph::Heartbeat* heartbeat() const noexcept { return heartbeat_; }
  /// Lets the heartbeat beat for work of the update other than copying.
  void beat() const noexcept {
    if (heartbeat_) heartbeat_->beat();
  }

 private:
  std::span<std::byte> scratch_;
  graph::Heartbeat* heartbeat_ = nullptr;
};

}  // namespace penstock::actors
