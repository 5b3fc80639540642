// Pass: reverse-mode differentiation, graph to graph. Pure.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// What the gradients of a window's micro-batches become.
enum class GradientSum : std::uint8_t { sum, running_mean };

/// Appends the nodes that compute the gradient of the loss with respect to every parameter it
/// depends on, and one that adds each use's gradient to an accumulator of its own. The loss's own
/// gradient is the run's loss scale, in each of its elements. What several uses contribute to a
/// computed value's gradient is summed by `add` nodes, the contribution of the last use first, each
/// to the sum of those before it: the bits depend on the model alone.
/// The gradients that `graph.gradients` asks for become outputs, in the values' plain layout; that
/// of a parameter is the sum over its uses. They change nothing else.
/// @throws Error invalid_argument, opening with `options.output.anchors[i]`, if the loss does not
/// depend on such a value; invalid_model if the loss is not an f32 value that a node computes,
/// depends on no parameter, or depends on one through an op that has no gradient.
Graph differentiate(Graph graph, GradientSum sum = GradientSum::sum);

}  // namespace penstock::graph
