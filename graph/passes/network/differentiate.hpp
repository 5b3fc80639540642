// This pass is reverse-mode differentiation from a graph to a graph. It is pure.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// A GradientSum says whether an accumulator holds the sum or the running mean of the gradients of
/// a window's micro-batches.
enum class GradientSum : std::uint8_t { sum, running_mean };

/// Appends the nodes that compute the gradient of the loss with respect to every parameter on which
/// it depends and that is not frozen, and, for each use of such a parameter, a node that adds the
/// gradient of the use to an accumulator of its own. No gradient is computed of a value that
/// depends on such parameters only by way of ops that stop gradients, or on none. The gradient of
/// the loss itself is the run's loss scale, in each of its elements. If several nodes use a
/// computed value, each contributes to the gradient of the value: `add` nodes add the contributions
/// one by one, beginning with that of the last use, so that the bits depend on the model alone. The
/// gradients that `graph.gradients` asks for become outputs, in the plain layout of the values. The
/// gradient of a parameter is the sum over its uses. Such outputs do not change any other result.
/// @throws Error invalid_argument, with a text that begins with `options.output.anchors[i]`, if
/// `graph.gradients` asks for the gradient of a value that depends on no parameter, or on which the
/// loss does not depend; invalid_model if the loss is not an f32 value that a node computes,
/// depends on no parameter that is not frozen, or depends on one through an op that has no
/// gradient.
Graph differentiate(Graph graph, GradientSum sum = GradientSum::sum);

}  // namespace penstock::graph
