// The convolutions in the batch-lane layout share the declarations in this header: their shape
// rule, sizes and cost.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/lanes/workspace.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

/// Checks x [B,C,H,W,16], weight [O,C,kh,kw], bias [O], if there is one, and the attributes.
/// Returns the type of the output.
TensorType infer_lane_convolution(const Attributes& attributes, Types in);

/// Returns the shape of the input of a convolution whose output has the shape `y`.
Shape lane_convolution_input(const Attributes& attributes, const Shape& y, const Shape& weight);

/// Returns the shape of the weight of a convolution from `x` to `y`.
Shape lane_convolution_weight(const Attributes& attributes, const Shape& x, const Shape& y);

/// Returns the sizes of the convolution from `x` to `y`, which are shapes in the batch-lane layout.
LaneConvolution lane_convolution(const Attributes& attributes, const Shape& x, const Shape& weight,
                                 const Shape& y);

// These functions return the same sizes from the types of the inputs and outputs of an op: of a
// convolution (x, weight) -> y, of the gradient of its input (dy, weight) -> dx, and of the
// gradient of its weight (x, dy) -> dweight.
LaneConvolution forward_sizes(const Attributes& attributes, Types in, Types out);
LaneConvolution input_gradient_sizes(const Attributes& attributes, Types in, Types out);
LaneConvolution weight_gradient_sizes(const Attributes& attributes, Types in, Types out);

/// Returns the number of units of a kernel that divides each block of 16 samples into
/// `of_each_block` units, which are rows or channels.
std::int64_t units_in_blocks(const LaneConvolution& conv, std::int64_t of_each_block);

/// Returns the cost of a convolution or of one of its gradients, which have equally many products.
/// Every operand is read or written once.
Cost lane_convolution_cost(const LaneConvolution& conv, Types in, Types out);

}  // namespace penstock::graph
