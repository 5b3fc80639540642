// The convolutions with lanes share these: their shape rule, sizes and cost.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/lanes/workspace.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

/// Checks x [B,C,H,W,16], weight [O,C,kh,kw], bias [O], if there is one, and the attributes.
/// Returns the type of the output.
TensorType infer_lane_convolution(const Attributes& attributes, Types in);

/// Returns the sizes of the convolution of `x`, which has lanes, as `y` has.
LaneConvolution lane_convolution(const Attributes& attributes, const Shape& x, const Shape& weight,
                                 const Shape& y);

/// Returns the number of units of the kernels whose parts are rows or channels of each block.
std::int64_t units_in_blocks(const LaneConvolution& conv, std::int64_t of_each_block);

/// Returns the cost of the products of a convolution or of either gradient, where every operand is
/// read or written once.
Cost lane_convolution_cost(const LaneConvolution& conv, Types in, Types out);

}  // namespace penstock::graph
