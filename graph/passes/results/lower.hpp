// This pass leads from nodes whose values have places to the instructions of a program. It is pure.
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

/// Says where a program has what lies in its scratch.
struct ScratchPlaces {
  std::vector<std::optional<Location>> of_value = {};  ///< Is numbered by ValueId.
  std::vector<WorkspacePlace> workspaces = {};  ///< Has the workspace of each node, in order.
};

/// Returns one instruction per node, in order, each shared by at most `threads` threads. Before the
/// first instruction that reads a copy of what lives in the host store, the copy is loaded; after
/// the one that computes it, it is stored. A backward node draws the same random numbers as the
/// node that it serves or repeats.
/// @throws Error internal if a value has no place.
Program lower(const Graph& graph, std::span<const NodeId> nodes, const Placements& placements,
              const ScratchPlaces& scratch, std::int32_t threads);

/// Appends a copy of `value` to `target`.
void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program);

}  // namespace penstock::graph
