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

/// Is a copy at the end of the backward program, for a gradient that several stages receive.
struct GradientCopy {
  ValueId value = none;
  Location target = {};
};

struct StageMemoryMap {
  Placements placements = {};
  std::vector<GradientCopy> copies = {};
  std::vector<ValueId> variables = {};  ///< Has the parameters and buffers in model order.
  std::int64_t parameter_bytes = 0;
  std::int64_t host_parameter_bytes = 0;
  std::int64_t accumulator_bytes = 0;
  std::int64_t host_accumulator_bytes = 0;
  std::int64_t stash_bytes = 0;
  std::int64_t host_stash_bytes = 0;

  /// Returns where a value lives that has a placement.
  const Location& home(ValueId value) const { return placements[index(value)]->home; }
};

/// Places everything of a stage that outlives a program. The stash holds, one after the other, the
/// forward values that the backward program, another stage or the host (`outputs`) needs, and the
/// backward values among the outputs. Gradient sums, parameters and forward values live in the host
/// store if `offload` says so.
/// @throws Error unsupported if a model's output is the new value of a buffer.
StageMemoryMap map_memory(const Graph& graph, const Partition& partition, std::int32_t stage,
                          const std::vector<Output>& outputs, const OffloadOptions& offload = {});

}  // namespace penstock::graph
