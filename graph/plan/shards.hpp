// Shards: how replicas divide a tensor: flat, ceil(n/R) elements each, so that the last ones have
// fewer, or none, and padding in their place. Pure.
#pragma once

#include <cstdint>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// Elements that each of so many replicas has room for.
constexpr std::int64_t shard_elements(std::int64_t elements, std::int64_t replicas) {
  return (elements + replicas - 1) / replicas;
}

/// Those that one of them has.
constexpr Part shard_of(std::int64_t elements, std::int64_t replicas, std::int64_t replica) {
  return elements_of({replica, replica + 1}, shard_elements(elements, replicas), elements);
}

}  // namespace penstock::graph
