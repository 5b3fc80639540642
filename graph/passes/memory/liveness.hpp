// Pass: from when to when a program needs each of its temporaries. Pure.
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
  std::vector<std::pair<ValueId, std::size_t>> values = {};  ///< each with its buffer
  /// The buffer of each node's workspace, if it needs one, and the bytes of the workspace. A node
  /// that threads share has one in the buffer for each part, at multiples of 64.
  std::vector<std::pair<std::size_t, std::int64_t>> workspaces = {};
};

struct LivenessOptions {
  bool in_place = true;      ///< outputs may overwrite inputs, as the ops' `overwrites` allow
  std::int32_t threads = 1;  ///< that share each node's work
};

/// Returns the buffers that `nodes`, run in this order, need in their program's scratch: for
/// temporaries, for copies of what lives in the host store, and for workspaces, through which other
/// values of the host store come piece by piece. An output shares the buffer of an input that its
/// op may overwrite if both need scratch and are of the same size, and that input is read nowhere
/// later and only once by this node.
Liveness find_liveness(const Graph& graph, std::span<const NodeId> nodes,
                       const Placements& placements, const LivenessOptions& options = {});

}  // namespace penstock::graph
