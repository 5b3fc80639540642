#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is conv2d in the batch-lane layout (graph/ops/rules/lane_shape.hpp), with a stride, a
/// dilation and groups of 1. The inputs are x [B,C,H,W,16], weight [O,C,kh,kw] and, if there is
/// one, bias [O]; the output is [B,O,OH,OW,16]. The attributes are padding (0 by default), one
/// integer or [height,width]; batch (16·B by default), which is the number of samples, because most
/// work on lanes without a sample is skipped; and relu (0 by default), which says whether negative
/// results become 0. The gradient of the bias is channel_sum_lanes of dy.
extern const Op conv2d_lanes;
/// Maps (dy [B,O,OH,OW,16], weight) to dx [B,C,H,W,16]. The attributes are those of
/// conv2d_lanes.
extern const Op conv2d_lanes_input_gradient;
/// Maps (x [B,C,H,W,16], dy [B,O,OH,OW,16]) to dweight. The attributes are those of
/// conv2d_lanes.
extern const Op conv2d_lanes_weight_gradient;

}  // namespace penstock::graph
