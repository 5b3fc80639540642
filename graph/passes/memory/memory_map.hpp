// This pass says where each value of a stage lives. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/placement.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// A GradientCopy is a copy of a gradient that the backward program makes at its end for one more
/// receiver. A gradient may have several receivers: earlier stages, and the host.
struct GradientCopy {
  ValueId value = none;
  Location target = {};
};

struct StageMemoryMap {
  Placements placements = {};
  std::vector<GradientCopy> copies = {};
  /// These are the stage's parameters and buffers in model order.
  std::vector<ValueId> variables = {};
  std::int64_t parameter_bytes = 0;
  std::int64_t buffer_bytes = 0;
  std::int64_t host_parameter_bytes = 0;
  std::int64_t prepared_bytes = 0;
  std::int64_t accumulator_bytes = 0;
  std::int64_t host_accumulator_bytes = 0;
  std::int64_t stash_bytes = 0;
  std::int64_t host_stash_bytes = 0;
  std::int64_t output_bytes = 0;

  /// Returns where `value`, which has a placement, lives.
  const Location& home(ValueId value) const { return placements[index(value)]->home; }
};

/// Places every value of stage number `stage` that is more than a temporary of one program. What
/// the nodes of StageGraph::prepare compute for others lies in Space::prepared. The stash holds,
/// one after the other, the forward values that the backward program or another stage needs.
/// `outputs` are the values that the host needs, which lie in Space::outputs. Gradient sums,
/// parameters and forward values, outputs among them, live in the host store if `offload` says so.
/// @throws Error unsupported if the stash or the outputs would have to hold the new value of a
/// buffer.
StageMemoryMap map_memory(const Graph& graph, const Partition& partition, std::int32_t stage,
                          const std::vector<Output>& outputs, const OffloadOptions& offload = {});

}  // namespace penstock::graph
