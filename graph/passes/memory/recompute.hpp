// This pass lets stages compute a second time what their backward needs, instead of keeping it. It
// is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

struct RecomputeRequest {
  bool on = false;
  std::vector<std::int32_t> stages = {};  ///< If it is empty, every stage but the last recomputes.
};

/// Says of each of `stages` stages whether it recomputes. The last one never does, as its backward
/// follows its forward at once, with nothing in between that would need the memory.
/// @throws Error invalid_topology for a stage that does not exist or is the last.
std::vector<bool> recomputed_stages(const RecomputeRequest& request, std::int32_t stages);

struct Recomputed {
  Graph graph;
  Partition partition;
};

/// Lets the backward nodes of the marked stages read forward values from new nodes that repeat the
/// forward ones, each of which is put before the first node that needs it. What a stage receives,
/// sends forward or gives the host is kept and read as it is, and so are checkpointed values. The
/// segment of forward nodes between two such values is repeated when backward reaches it: a stage
/// without checkpoints is repeated as a whole, one with checkpoints from one checkpoint to the
/// next, with the values of only one such run of nodes in memory at a time.
Recomputed recompute(Graph graph, Partition partition, const std::vector<bool>& stages);

}  // namespace penstock::graph
