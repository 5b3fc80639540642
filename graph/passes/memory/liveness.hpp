// This pass says from when to when a program needs each of its temporaries. It is pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/memory/buffer.hpp"
#include "graph/plan/placement.hpp"

namespace penstock::graph {

struct Liveness {
  std::vector<Buffer> buffers = {};
  std::vector<std::pair<ValueId, std::size_t>> values = {};  ///< Has each value with its buffer.
  /// Has the buffer of each node's workspace, if the node needs one, and the bytes of the
  /// workspace. A node that threads share has one workspace in the buffer for each part, at
  /// multiples of 64.
  std::vector<std::pair<std::size_t, std::int64_t>> workspaces = {};
};

struct LivenessOptions {
  /// Says whether outputs may overwrite inputs, as `overwrites` of the ops allow.
  bool in_place = true;
  std::int32_t threads = 1;  ///< Is the number of threads that share the work of each node.
};

/// Returns the buffers that `nodes`, run in this order, need in the scratch of their program: for
/// temporaries, for copies of what lives in the host store, and for workspaces, through which other
/// values of the host store come piece by piece. An output shares the buffer of an input that its
/// op may overwrite if both need scratch and have the same size, and if that input is read nowhere
/// later and only once by this node.
Liveness find_liveness(const Graph& graph, std::span<const NodeId> nodes,
                       const Placements& placements, const LivenessOptions& options = {});

}  // namespace penstock::graph
