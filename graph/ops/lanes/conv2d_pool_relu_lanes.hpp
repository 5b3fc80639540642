#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// conv2d_lanes, then max_pool2d with kernel 2, then relu (or relu first, which gives the same), in
/// one. Inputs and attributes as conv2d_lanes, but for relu; outputs y [B,O,OH,OW,16], OH and OW
/// being half of what the convolution gives, rounded down, and winners [B,O,OH,OW,4], one byte for
/// each element of y in the place of four to a float: which of the four pixels is the largest, row
/// by row, or 4 where y is not above zero.
extern const Op conv2d_pool_relu_lanes;
/// (winners [B,O,OH,OW,4], dy [B,O,OH,OW,16], weight) -> dx [B,C,H,W,16]. Attributes as above and
/// input_size [H,W].
extern const Op conv2d_pool_relu_lanes_input_gradient;
/// (x [B,C,H,W,16], winners, dy) -> dweight and dbias. Attributes as above and kernel [kh,kw].
extern const Op conv2d_pool_relu_lanes_weight_gradient;

}  // namespace penstock::graph
