// This pass makes the instructions of a program from nodes whose values have places in memory. It
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

/// A WorkspacePlace is where the workspace of a node lies in the scratch of its program.
struct WorkspacePlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// ScratchPlaces say where the values and workspaces of a program lie in its scratch.
struct ScratchPlaces {
  /// This has, for each ValueId, where the value lies, if it lies in scratch.
  std::vector<std::optional<Location>> of_value = {};
  /// These are the workspaces of the nodes, in order.
  std::vector<WorkspacePlace> workspaces = {};
};

/// Returns a program that has one instruction for each of `nodes`, in order, and instructions that
/// copy values. At most `threads` threads share the work of an instruction. If a value lives in the
/// host store, its copy is loaded before the first instruction that reads it, or stored after the
/// instruction that computes it. A backward node draws the same random numbers as its forward node,
/// Node::forward_of.
/// @throws Error internal if a value has no place in memory.
Program lower(const Graph& graph, std::span<const NodeId> nodes, const Placements& placements,
              const ScratchPlaces& scratch, std::int32_t threads);

/// Appends to `program` an instruction that copies `value` from `source` to `target`.
void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program);

}  // namespace penstock::graph
