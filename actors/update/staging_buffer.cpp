#include "actors/update/staging_buffer.hpp"

#include <cstring>

#include "graph/values/memory.hpp"

namespace penstock::actors {

std::span<float> StagingBuffer::room(std::int64_t slot, std::int64_t count) const {
  const std::int64_t bytes = aligned(count * std::int64_t{sizeof(float)});
  return {reinterpret_cast<float*>(scratch_.data() + slot * bytes),
          static_cast<std::size_t>(count)};
}

std::span<float> StagingBuffer::load(std::int64_t slot, const float* from, std::int64_t count,
                                     OffloadReport& moves) const {
  const std::span<float> piece = room(slot, count);
  std::memcpy(piece.data(), from, piece.size_bytes());
  ++moves.loads;
  moves.loaded_bytes += static_cast<std::int64_t>(piece.size_bytes());
  beat();
  return piece;
}

void StagingBuffer::store(std::span<const float> piece, float* to, OffloadReport& moves) const {
  std::memcpy(to, piece.data(), piece.size_bytes());
  ++moves.stores;
  moves.stored_bytes += static_cast<std::int64_t>(piece.size_bytes());
  beat();
}

}  // namespace penstock::actors
