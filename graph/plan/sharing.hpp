// A Sharing says how one kernel call is divided: into parts, which the threads of an IPU share, and
// into pieces, so that the watchdog sees progress within a long call. The Sharing of a call is
// decided when a plan is made. All functions are pure.
#pragma once

#include <cstdint>

#include "graph/ir/op.hpp"

namespace penstock::graph {

struct Sharing {
  std::int64_t units = 1;  ///< The work consists of this many units.
  /// The units are divided into this many parts, which are as equal as possible; 1 means that the
  /// work is not shared.
  std::int32_t parts = 1;
  /// Each part has this many pieces, which the part's thread runs one after the other.
  std::int32_t pieces = 1;
};

/// Returns how the work of a call is divided on an IPU of `threads` threads. Work that is too small
/// to be worth handing over is not shared, or is shared by fewer threads. A long part runs in
/// pieces, even if there is only one thread.
Sharing share_out(const Op& op, const Attributes& attributes, Types inputs, Types outputs,
                  std::int32_t threads);

/// Returns the units of piece `number`. Pieces are counted from 0 through all parts: with 4 pieces
/// a part, pieces 0 to 3 are those of part 0, and pieces 4 to 7 those of part 1.
Part piece_of(const Sharing& sharing, std::int32_t number);

}  // namespace penstock::graph
