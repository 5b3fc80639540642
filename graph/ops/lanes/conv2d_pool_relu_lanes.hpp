#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes, as one op, conv2d_lanes, then max_pool2d with a kernel of 2, then relu. (The result is
/// the same if relu comes before the pooling.) The inputs and attributes are those of conv2d_lanes,
/// but the attribute relu has no effect. The outputs are y [B,O,OH,OW,16], where OH and OW are half
/// of the convolution's, rounded down, and winners [B,O,OH,OW,4], which has one byte for each
/// element of y, four to a float: the byte says which of the four pixels is the largest, row by
/// row, or is 4 where y is not above zero.
extern const Op conv2d_pool_relu_lanes;
/// Maps (winners [B,O,OH,OW,4], dy [B,O,OH,OW,16], weight) to dx [B,C,H,W,16]. The attributes are
/// those of conv2d_pool_relu_lanes, and input_size [H,W].
extern const Op conv2d_pool_relu_lanes_input_gradient;
/// Maps (x [B,C,H,W,16], winners, dy) to dweight and dbias. The attributes are those of
/// conv2d_pool_relu_lanes, and kernel [kh,kw].
extern const Op conv2d_pool_relu_lanes_weight_gradient;

}  // namespace penstock::graph
