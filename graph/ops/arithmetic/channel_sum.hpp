#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x [N,C,...] over every axis but axis 1, to [C]. This is the gradient of a bias per channel.
extern const Op channel_sum;

}  // namespace penstock::graph
