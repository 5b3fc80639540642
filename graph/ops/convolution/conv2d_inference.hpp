#pragma once

#include <cstddef>
#include <optional>

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

/// This is the number of channels of the output, and is set only if weights are packed.
inline constexpr IntegerAttribute out_channels{"out_channels"};

}  // namespace attribute

/// Computes, as one op, conv2d, then batch_norm_inference, then add, and then relu or hardtanh,
/// with the bits that these ops have one after the other. Each of the last three may be missing.
/// The inputs are those of conv2d; if there is a norm, its weight, bias, running_mean and
/// running_var [O]; and, if the flag adds is 1, a tensor of the output's shape that is added. The
/// other attributes are those of conv2d without relu, eps of the norm, and the bounds low and high;
/// a bound that is not set bounds nothing. If out_channels is set, the weights are those that
/// conv2d_pack makes, and kernel is [kh,kw]. The op has no gradient: the compiler makes nodes of it
/// in inference.
extern const Op conv2d_inference;

/// Returns the node of conv2d_inference that computes at once what `node` computes and what
/// `reader` makes of it. Input `position` of `reader` is the output of `node`; both are nodes of
/// `graph`. Returns nothing if there is no such node. The returned node has the name of `node`, and
/// the output and the block of `reader`.
std::optional<Node> joined_convolution(const Graph& graph, const Node& node, const Node& reader,
                                       std::size_t position);

}  // namespace penstock::graph
