#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps x [N,...] to [ceil(N/16),...,16] (graph/ops/rules/lane_shape.hpp); padding lanes are zero.
extern const Op to_lanes;
/// Maps [B,...,16] to x [batch,...] and drops the padding lanes. The attribute batch is from
/// 16*(B-1)+1 to 16*B.
extern const Op from_lanes;

}  // namespace penstock::graph
