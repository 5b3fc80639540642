#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// conv2d in the batch-lane layout (graph/ops/rules/lane_shape.hpp), stride, dilation and groups 1:
/// inputs x [B,C,H,W,16], weight [O,C,kh,kw] and, if there is one, bias [O]; output [B,O,OH,OW,16].
/// Attributes padding (0), one integer or [height,width]; batch (16*B), the number of samples:
/// lanes beyond it are mostly skipped and become zero, here and in the gradients; relu (0):
/// whether what is below zero becomes zero. The bias's gradient is dy's channel_sum_lanes.
extern const Op conv2d_lanes;
/// (dy [B,O,OH,OW,16], weight) -> dx [B,C,H,W,16]. Attributes as above.
extern const Op conv2d_lanes_input_gradient;
/// (x [B,C,H,W,16], dy [B,O,OH,OW,16]) -> dweight. Attributes as above.
extern const Op conv2d_lanes_weight_gradient;

}  // namespace penstock::graph
