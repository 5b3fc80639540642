// R replicas divide a tensor of n elements into R shards, each of ceil(n/R) neighbouring elements.
// The last shards may have fewer elements, or none, and have padding in place of the missing
// elements. The functions are pure.
#pragma once

#include <cstdint>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// Returns the number of elements that each of `replicas` replicas has room for.
constexpr std::int64_t shard_elements(std::int64_t elements, std::int64_t replicas) {
  return (elements + replicas - 1) / replicas;
}

/// Returns which elements are in the shard of replica number `replica`.
constexpr Part shard_of(std::int64_t elements, std::int64_t replicas, std::int64_t replica) {
  return elements_of({replica, replica + 1}, shard_elements(elements, replicas), elements);
}

}  // namespace penstock::graph
