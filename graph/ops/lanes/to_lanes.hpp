#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// x [N,...] -> [ceil(N/16),...,16] (graph/ops/rules/lane_shape.hpp); padding lanes are zero.
extern const Op to_lanes;
/// [B,...,16] -> x [batch,...]; padding lanes are dropped. Attribute batch: from 16*(B-1)+1 to
/// 16*B.
extern const Op from_lanes;

}  // namespace penstock::graph
