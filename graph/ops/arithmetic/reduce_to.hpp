#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x over what broadcasting from attribute `shape` to x's shape repeats: the gradient of a
/// broadcast operand. Output of that shape.
extern const Op reduce_to;

/// `gradient` summed to the shape of input i; itself where that is its shape.
ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i);

}  // namespace penstock::graph
