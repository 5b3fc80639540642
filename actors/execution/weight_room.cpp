#include "actors/execution/weight_room.hpp"

#include "graph/values/memory.hpp"

namespace penstock::actors {

WeightRoom::WeightRoom(std::int64_t bytes)
    : bytes_(bytes),
      memory_(bytes > 0 ? allocate_block(static_cast<std::size_t>(bytes)) : nullptr) {}

void WeightRoom::fill(Arena& arena, graph::Heartbeat* heartbeat) {
  if (arena.stage().host_parameter_bytes == 0) return;
  version_ = arena.weight_version();
  of_ = &arena;
  arena.bring_weights(memory_.get(), heartbeat);
}

}  // namespace penstock::actors
