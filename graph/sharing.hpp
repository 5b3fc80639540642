// Sharing: how the threads of an IPU share one kernel call. Decided when a plan is made; pure.
#pragma once

#include <cstdint>

#include "graph/op.hpp"

namespace penstock::graph {

struct Sharing {
  std::int64_t units = 1;  ///< that the work consists of
  std::int32_t parts = 1;  ///< that they are dealt out in, as equal as possible; 1: not shared
};

/// For an IPU of `threads` threads. Work that is so little that handing it over would not pay is
/// not shared, or not among all of them.
Sharing share_out(const Op& op, const Attributes& attributes, Types inputs, Types outputs,
                  std::int32_t threads);

/// Part `number`, counted from 0.
Part part_of(const Sharing& sharing, std::int32_t number);

}  // namespace penstock::graph
