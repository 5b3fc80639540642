// What the convolutions with lanes share: their shape rule, sizes and cost. No op of its own.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/lanes/workspace.hpp"
#include "graph/ops/rules/workspace.hpp"

namespace penstock::graph {

/// Checks x [B,C,H,W,16], weight [O,C,kh,kw], bias [O]? and the attributes; the output's type.
TensorType infer_lane_convolution(const Attributes& attributes, Types in);

/// `x` and `y` have lanes.
LaneConvolution lane_convolution(const Attributes& attributes, const Shape& x, const Shape& weight,
                                 const Shape& y);

/// The units of the kernels whose parts are rows or channels of each block.
std::int64_t units_in_blocks(const LaneConvolution& conv, std::int64_t of_each_block);

/// The products of a convolution, or of either gradient; every operand read or written once.
Cost lane_convolution_cost(const LaneConvolution& conv, Types in, Types out);

}  // namespace penstock::graph
