#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x over what broadcasting from the attribute `shape` to the shape of x repeats, to a tensor
/// of that shape. This is the gradient of a broadcast operand.
extern const Op reduce_to;

/// Returns `gradient` summed to the shape of input i, or `gradient` itself if it has that shape.
ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i);

}  // namespace penstock::graph
