#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps (sum, x), of one shape, to sum + x in the place of `sum`. With the attribute running (0 by
/// default) it computes the running mean instead: sum·k/(k+1) + x/(k+1), where k micro-batches of
/// the window are in the sum already.
extern const Op accumulate;

}  // namespace penstock::graph
