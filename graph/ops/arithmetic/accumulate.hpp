#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// (sum, x) -> sum + x, in the place of `sum`. Two inputs of one shape. With attribute running (0)
/// the running mean instead: sum·k/(k+1) + x/(k+1) for micro-batch k, from 0, of its window.
extern const Op accumulate;

}  // namespace penstock::graph
