#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums over every axis but 1: x [N,C,...] -> [C]. The gradient of a per-channel bias.
extern const Op channel_sum;

}  // namespace penstock::graph
