// The depthwise convolution in the batch-lane layout, and its gradients. Each channel has a kernel
// of its own.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps x [B,C,H,W,16], weight [C,1,kh,kw] and, if there is one, bias [C] to y [B,C,OH,OW,16].
/// There is a sample in every lane, and the stride is 1 or 2 along either axis.
extern const Op depthwise_conv2d_lanes;
/// Maps (dy [B,C,OH,OW,16], weight [C,1,kh,kw]) to dx [B,C,H,W,16].
extern const Op depthwise_conv2d_lanes_input_gradient;
/// Maps (x, dy) to dweight [C,1,kh,kw].
extern const Op depthwise_conv2d_lanes_weight_gradient;

}  // namespace penstock::graph
