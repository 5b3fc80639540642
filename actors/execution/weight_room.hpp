// A WeightRoom is the memory of an IPU to which the weights come that the host store keeps, for the
// programs of one stage at a time. They stay until another stage needs the room or there are newer
// ones, so that a stage alone on its IPU brings them once per update. It is used on the IPU's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "actors/execution/arena.hpp"

namespace penstock::actors {

class WeightRoom {
 public:
  /// Serves stages of which none keeps more than `bytes` bytes in the host store.
  explicit WeightRoom(std::int64_t bytes = 0);

  std::int64_t bytes() const { return bytes_; }
  /// Brings the weights of `arena`'s stage, unless their newest values are here already, and
  /// returns where they are. Returns null if no stage of the IPU has any in the host store.
  /// `heartbeat` beats with each.
  std::byte* bring(Arena& arena, graph::Heartbeat* heartbeat = nullptr) {
    if (bytes_ > 0 && !holds(arena)) fill(arena, heartbeat);
    return memory_.get();
  }
  /// Forgets the weights, so that the next bring() copies them again.
  void drop() { of_ = nullptr; }
  bool holds(const Arena& arena) const {
    return of_ == &arena && version_ == arena.weight_version();
  }

 private:
  void fill(Arena& arena, graph::Heartbeat* heartbeat);

  std::int64_t bytes_;
  std::shared_ptr<std::byte> memory_;
  // Points to the arena whose weights are here; it is compared, never dereferenced.
  const Arena* of_ = nullptr;
  std::int64_t version_ = 0;
};

}  // namespace penstock::actors
