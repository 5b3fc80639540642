// In this pass, values that the backward of a stage needs are computed a second time instead of
// being kept. The pass is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

struct RecomputeRequest {
  bool on = false;
  /// These stages recompute. If the list is empty, every stage but the last one recomputes.
  std::vector<std::int32_t> stages = {};
};

/// Returns a list that says for each of `stages` stages whether it recomputes. The last stage never
/// recomputes: its backward follows its forward at once, and nothing in between would need the
/// memory.
/// @throws Error invalid_topology if `request` names a stage that does not exist or is the last.
std::vector<bool> recomputed_stages(const RecomputeRequest& request, std::int32_t stages);

struct Recomputed {
  Graph graph;
  Partition partition;
};

/// Makes the backward of each stage that `stages` marks repeat forward nodes of the stage, and
/// returns the new graph and partition. Backward nodes then read a forward value from a new node,
/// which repeats a forward node and is put before the first node that needs the value. Values that
/// the stage receives, sends forward or gives to the host are kept instead, and so are checkpointed
/// values. A stage without checkpoints repeats its forward as a whole. A stage with checkpoints
/// repeats the nodes from one checkpoint to the next when its backward reaches these nodes, so that
/// only the values of one such group of nodes are in memory at a time.
Recomputed recompute(Graph graph, Partition partition, const std::vector<bool>& stages);

}  // namespace penstock::graph
