// Pass: from nodes whose values have places to the instructions of a program. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Where a program's nodes work.
struct Places {
  std::vector<std::optional<Location>> of_value = {};  ///< by ValueId
  std::vector<std::optional<Location>> on_host = {};   ///< by ValueId: where else it lies
  std::vector<std::int64_t> workspace_offsets = {};    ///< of each node
  std::vector<std::int64_t> workspace_bytes = {};
  std::int32_t threads = 1;  ///< that share each node's work
};

/// One instruction per node, in order; what lies in the host store is loaded before the first that
/// reads it, or stored after the one that computes it. A backward node draws the same random
/// numbers as the node that it serves or repeats.
Program lower(const Graph& graph, std::span<const NodeId> nodes, const Places& places);

/// Appends a copy of `value` to `target`.
void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program);

}  // namespace penstock::graph
