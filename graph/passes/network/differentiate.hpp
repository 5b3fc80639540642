// This pass is reverse-mode differentiation from graph to graph. It is pure.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Says what the gradients of a window's micro-batches become.
enum class GradientSum : std::uint8_t { sum, running_mean };

/// Appends the nodes that compute the gradient of the loss with respect to every parameter on which
/// it depends, and a node per use that adds the gradient to an accumulator of its own. The gradient
/// of the loss itself is the run's loss scale, in each of its elements. What several uses
/// contribute to the gradient of a computed value is summed by `add` nodes, the contribution of the
/// last use first, each to the sum of those before it: the bits depend on the model alone.
/// The gradients that `graph.gradients` asks for become outputs, in the plain layout of the values;
/// that of a parameter is the sum over its uses. They change nothing else.
/// @throws Error invalid_argument, with a text that begins with `options.output.anchors[i]`, if the
/// loss does not depend on such a value; invalid_model if the loss is not an f32 value that a node
/// computes, depends on no parameter, or depends on one through an op that has no gradient.
Graph differentiate(Graph graph, GradientSum sum = GradientSum::sum);

}  // namespace penstock::graph
