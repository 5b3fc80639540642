// The convolution with a kernel of one pixel in the batch-lane layout, and its gradients. The 16
// samples of a pixel lie beside each other like pixels of a row. The kernels of conv2d therefore
// compute these ops, as matrix products. There is a sample in every lane.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps x [B,C,H,W,16], weight [O,C,1,1] and, if there is one, bias [O] to y [B,O,H,W,16]. The
/// attribute relu (0 by default) says whether negative results become 0.
extern const Op pointwise_conv2d_lanes;
/// Maps (dy [B,O,H,W,16], weight [O,C,1,1]) to dx [B,C,H,W,16].
extern const Op pointwise_conv2d_lanes_input_gradient;
/// Maps (x, dy) to dweight [O,C,1,1].
extern const Op pointwise_conv2d_lanes_weight_gradient;

}  // namespace penstock::graph
