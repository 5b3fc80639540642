// These functions serve as members of Op: each name begins with conv2d_ and the name of the member.
// They are for a convolution (x, weight[, bias]) -> y, for the gradient of its input (dy, weight)
// -> dx and for that of its weight (x, dy) -> dweight. Images are [N,C,H,W] or, with a kernel of
// one pixel, [B,C,H,W,16] in the batch-lane layout.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

std::int64_t conv2d_workspace(const Attributes& attributes, Types in, Types out);
std::int64_t conv2d_units(const Attributes& attributes, Types in, Types out);
Cost conv2d_cost(const Attributes& attributes, Types in, Types out);
void conv2d_forward(const KernelCall& call);

std::int64_t conv2d_workspace_of_input_gradient(const Attributes& attributes, Types in, Types out);
std::int64_t conv2d_units_of_input_gradient(const Attributes& attributes, Types in, Types out);
Cost conv2d_cost_of_input_gradient(const Attributes& attributes, Types in, Types out);
void conv2d_forward_of_input_gradient(const KernelCall& call);

std::int64_t conv2d_workspace_of_weight_gradient(const Attributes& attributes, Types in, Types out);
std::int64_t conv2d_units_of_weight_gradient(const Attributes& attributes, Types in, Types out);
Cost conv2d_cost_of_weight_gradient(const Attributes& attributes, Types in, Types out);
void conv2d_forward_of_weight_gradient(const KernelCall& call);

}  // namespace penstock::graph
