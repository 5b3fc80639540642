#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// max_pool2d in the batch-lane layout (graph/ops/rules/lane_shape.hpp). Input x [B,C,H,W,16];
/// outputs y [B,C,OH,OW,16] and the winners [B,C,OH,OW,4], one byte for each element of y in the
/// place of four to a float: the window position kh * kernel width + kw. Attributes as
/// max_pool2d's; the kernel has at most 256 cells.
extern const Op max_pool2d_lanes;
/// (winners [B,C,OH,OW,4], dy [B,C,OH,OW,16]) -> dx [B,C,H,W,16]. Attributes as above and
/// input_size [H,W].
extern const Op max_pool2d_lanes_gradient;

}  // namespace penstock::graph
