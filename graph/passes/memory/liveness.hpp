// This pass says from which instruction to which instruction a program needs each of its
// temporaries. It is pure.
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
  /// These are the values that have a buffer, each with the position of its buffer in `buffers`.
  std::vector<std::pair<ValueId, std::size_t>> values = {};
  /// This has two numbers for each node: the position in `buffers` of the buffer for its workspace,
  /// and how many bytes a workspace takes, which are 0 if the node needs none. If several threads
  /// share the node's work, the buffer has a workspace for each part, at multiples of 64 bytes.
  std::vector<std::pair<std::size_t, std::int64_t>> workspaces = {};
};

struct LivenessOptions {
  /// If this is true, outputs may overwrite inputs where Op::overwrites allows it.
  bool in_place = true;
  std::int32_t threads = 1;  ///< This many threads share the work of each node.
};

/// Returns the buffers that the program of `nodes`, which run in this order, needs in its scratch:
/// for temporaries, for copies of values that live in the host store, and for workspaces. A value
/// whose arrival is `in_pieces` comes into a workspace piece by piece. An output shares the buffer
/// of an input that its op may overwrite if both need scratch and have the same size, if no later
/// node reads the input, and if the op's node reads the input only once.
Liveness find_liveness(const Graph& graph, std::span<const NodeId> nodes,
                       const Placements& placements, const LivenessOptions& options = {});

}  // namespace penstock::graph
