// Pass: from when to when a program needs each of its temporaries. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/memory/buffer.hpp"

namespace penstock::graph {

struct Liveness {
  std::vector<Buffer> buffers = {};
  std::vector<std::pair<ValueId, std::size_t>> values = {};  ///< the buffer of each temporary
  /// Of each node: the buffer of its workspace, if it needs one, and the workspace's bytes; a node
  /// that threads share has one in the buffer for each part, at multiples of 64.
  std::vector<std::pair<std::size_t, std::int64_t>> workspaces = {};
};

struct LivenessOptions {
  bool in_place = true;            ///< as the ops' `overwrites` allow
  std::int32_t threads = 1;        ///< that share each node's work
  std::vector<bool> on_host = {};  ///< by ValueId: comes into the node's workspace, piece by piece
  std::vector<bool> loaded = {};   ///< by ValueId: comes whole, before the first node that reads it
};

/// The buffers that `nodes`, run in this order, need for those of their outputs that are
/// `temporary` (by ValueId), for what is loaded, and for workspaces. An output shares the buffer of
/// an input that its op may overwrite if both are temporary and of the same size, and that input is
/// read nowhere later and only once by this node.
Liveness find_liveness(const Graph& graph, std::span<const NodeId> nodes,
                       const std::vector<bool>& temporary, const LivenessOptions& options = {});

}  // namespace penstock::graph
