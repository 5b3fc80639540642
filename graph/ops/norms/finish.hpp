// Some ops add a tensor to their result and clamp it, so that neighbouring nodes need not read and
// write it again. Such ops share the declarations in this header: the attributes that say so, and
// the functions that let a node do what a node of add, relu or hardtanh does.
#pragma once

#include <cstddef>
#include <limits>

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/channel_norms.hpp"

namespace penstock::graph {

namespace attribute {

/// This flag says that the last input is added to the result before the result is clamped.
inline constexpr FlagAttribute adds{"adds"};
/// These bound the result, unless they are not set. The gradient of a lower bound of 0 alone is
/// that of relu, and the gradient of other bounds is that of hardtanh.
inline constexpr RealAttribute lower_bound{"low", -std::numeric_limits<double>::infinity()};
inline constexpr RealAttribute upper_bound{"high", std::numeric_limits<double>::infinity()};

}  // namespace attribute

/// Returns whether a node with these attributes clamps its result.
bool is_clamped(const Attributes& attributes);

/// Checks the bounds that are set.
/// @throws Error invalid_argument if they are no f32 numbers or if the upper one is not the larger.
void expect_bounds(const Attributes& attributes);

/// Checks that `addend` has the type of the result.
void expect_addend(const TensorType& addend, const TensorType& result);

/// Lets `node` clamp its result as `reader` does. Returns false, and changes nothing, if `reader`
/// is no node of relu or of hardtanh.
bool join_clamp(Node& node, const Node& reader);

/// Lets `node` add to its result what `reader`, whose input `position` is that result, adds to it.
/// Returns false, and changes nothing, if `reader` is no node of add, if the two summands are not
/// of the same type, or if `node` adds something already.
bool join_sum(const Graph& graph, Node& node, const Node& reader, std::size_t position);

/// Appends the gradient of the clamp of the context's node, and returns it. Returns the gradient of
/// output 0 if the node does not clamp that output.
ValueId gradient_before_clamp(GradientContext& context);

/// Returns how a norm with these attributes clamps its result.
NormClamp norm_clamp(const Attributes& attributes);

}  // namespace penstock::graph
