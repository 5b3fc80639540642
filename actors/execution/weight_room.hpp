// A WeightRoom is memory of an IPU for copies of weights that the host store keeps. It has the
// weights of one stage at a time. They stay until another stage needs the room or the weights
// change: if a stage is alone on its IPU, its weights come once per update. Only the IPU's thread
// uses a WeightRoom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "actors/execution/arena.hpp"

namespace penstock::actors {

class WeightRoom {
 public:
  /// Makes a room of `bytes` bytes, which is as much as any stage of the IPU needs.
  explicit WeightRoom(std::int64_t bytes = 0);

  std::int64_t bytes() const { return bytes_; }
  /// Copies the weights of the stage of `arena` to the room, unless their newest values are there
  /// already, and returns the room's address. Returns null if the room has no bytes, which means
  /// that the IPU's stages have no weights in the host store. Unless `heartbeat` is null, it beats
  /// with each tensor.
  std::byte* bring(Arena& arena, graph::Heartbeat* heartbeat = nullptr) {
    if (bytes_ > 0 && !holds(arena)) fill(arena, heartbeat);
    return memory_.get();
  }
  /// Forgets which weights are in the room, so that the next bring() copies weights again.
  void drop() { of_ = nullptr; }
  bool holds(const Arena& arena) const {
    return of_ == &arena && version_ == arena.weight_version();
  }

 private:
  void fill(Arena& arena, graph::Heartbeat* heartbeat);

  std::int64_t bytes_;
  std::shared_ptr<std::byte> memory_;
  // The weights of this arena are in the room. The pointer is compared, but never dereferenced.
  const Arena* of_ = nullptr;
  std::int64_t version_ = 0;
};

}  // namespace penstock::actors
