// Sharing says into which parts one kernel call is divided, so that the threads of an IPU share it
// and a watcher of a long one sees it move. It is decided when a plan is made; all is pure.
#pragma once

#include <cstdint>

#include "graph/ir/op.hpp"

namespace penstock::graph {

struct Sharing {
  std::int64_t units = 1;   ///< that the work consists of
  std::int32_t parts = 1;   ///< that they are dealt out in, as equal as possible; 1: not shared
  std::int32_t pieces = 1;  ///< of each part: its thread runs them one after the other
};

/// Shares work on an IPU of `threads` threads. So little work that handing it over would not pay is
/// not shared, or not among all of them. A long part runs in pieces, on one thread too.
Sharing share_out(const Op& op, const Attributes& attributes, Types inputs, Types outputs,
                  std::int32_t threads);

/// Returns piece `number`, counted from 0 through the pieces of all parts. A part that is not run
/// in pieces is one.
Part piece_of(const Sharing& sharing, std::int32_t number);

}  // namespace penstock::graph
