// This pass turns nodes, whose values have places in memory, into the instructions of a program. It
// is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/placement.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Is a node's workspace in the scratch of its program.
struct WorkspacePlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Says where the values and workspaces of a program lie in its scratch.
struct ScratchPlaces {
  /// Has, by ValueId, the place of each value that lies in scratch.
  std::vector<std::optional<Location>> of_value = {};
  std::vector<WorkspacePlace> workspaces = {};  ///< Has the workspace of each node, in order.
};

/// Returns a program that has one instruction per node, in order, and copies. At most `threads`
/// threads share the work of an instruction. If a value lives in the host store, its copy is loaded
/// before the first instruction that reads it, or stored after the instruction that computes it. A
/// backward node draws the same random numbers as the node that it serves or repeats.
/// @throws Error internal if a value has no place.
Program lower(const Graph& graph, std::span<const NodeId> nodes, const Placements& placements,
              const ScratchPlaces& scratch, std::int32_t threads);

/// Appends to `program` an instruction that copies `value` from `source` to `target`.
void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program);

}  // namespace penstock::graph
