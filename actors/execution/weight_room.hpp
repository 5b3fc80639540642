// A WeightRoom is the memory of an IPU to which weights come that the host store keeps. It serves
// the programs of one stage at a time. The weights stay until another stage needs the room or the
// weights have changed: if a stage is alone on its IPU, they come once per update. A WeightRoom is
// used on the IPU's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "actors/execution/arena.hpp"

namespace penstock::actors {

class WeightRoom {
 public:
  /// Makes a room of `bytes` bytes, which is as much as any of its stages needs.
  explicit WeightRoom(std::int64_t bytes = 0);

  std::int64_t bytes() const { return bytes_; }
  /// Copies the weights of `arena`'s stage to the room, unless their newest values are there
  /// already, and returns their address. Returns null if the room has no bytes, as its stages have
  /// no weights in the host store. `heartbeat`, if it is not null, beats with each tensor.
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
  // Points to the arena whose weights are in the room; it is compared, never dereferenced.
  const Arena* of_ = nullptr;
  std::int64_t version_ = 0;
};

}  // namespace penstock::actors
