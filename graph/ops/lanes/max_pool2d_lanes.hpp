#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is max_pool2d in the batch-lane layout (graph/ops/rules/lane_shape.hpp). The input is x
/// [B,C,H,W,16]. The outputs are y [B,C,OH,OW,16] and the winners [B,C,OH,OW,4], which have one
/// byte for each element of y, four to a float: the position of the maximum in its window, kh *
/// kernel width + kw. The attributes are those of max_pool2d; the kernel has at most 256 cells.
extern const Op max_pool2d_lanes;
/// Maps (winners [B,C,OH,OW,4], dy [B,C,OH,OW,16]) to dx [B,C,H,W,16]. The attributes are those of
/// max_pool2d_lanes, and input_size [H,W].
extern const Op max_pool2d_lanes_gradient;

}  // namespace penstock::graph
