// Pass: stages that compute what their backward needs a second time instead of keeping it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

struct RecomputeRequest {
  bool on = false;
  std::vector<std::int32_t> stages = {};  ///< empty: every one but the last
};

/// By stage, of so many: whether it recomputes. The last one never does: its backward follows its
/// forward at once, with nothing in between that would need the memory.
/// @throws Error invalid_topology for a stage that does not exist or is the last.
std::vector<bool> recomputed_stages(const RecomputeRequest& request, std::int32_t stages);

struct Recomputed {
  Graph graph;
  Partition partition;
};

/// In the stages marked, backward nodes read forward values from new nodes that repeat the forward
/// ones, each put before the first node that needs it. What the stage receives, sends forward or
/// gives the host is kept and read as it is, and so are checkpointed values. Between two such
/// values the segment of forward nodes is so repeated when backward reaches it: a stage without
/// checkpoints as a whole, one with checkpoints piece by piece, with only one piece's values in
/// memory at a time.
Recomputed recompute(Graph graph, Partition partition, const std::vector<bool>& stages);

}  // namespace penstock::graph
