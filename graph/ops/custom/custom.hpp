#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr TextAttribute custom_op{"op", ""};

}  // namespace attribute

/// The op is one of the host's (penstock/custom_op.hpp), whose name is the attribute `op`. The
/// inputs are what it takes, and the output is f32.
extern const Op custom;
/// The op is as custom, for an op of the host's that has no gradient.
extern const Op custom_constant;
/// Maps (inputs, y, dy) of a custom op to the gradients of those inputs whose positions the
/// attribute `needed` lists. The other attribute is `op`.
extern const Op custom_gradient;

}  // namespace penstock::graph
