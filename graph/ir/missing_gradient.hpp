// A training computes gradients of the values that depend on what it trains. These functions say
// which values those are, and give the inputs of a node their gradients. A value that a training
// needs to have a gradient may have none: the text of the refusal says why, and what to do, which
// is for whoever wrote the model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns, for each ValueId, whether `marked` has the value, or the value is of type f32 and
/// depends on one that `marked` has by a way that no op stops (Op::stops_gradient).
std::vector<bool> dependent_values(const Graph& graph, std::vector<bool> marked);

/// Emits the nodes that compute the gradients of those inputs of node `id` for which `needed` is
/// true. `output_gradients` are the gradients of the node's outputs, or `none`. Returns, for each
/// input, its gradient, or `none` if the op gives it none.
/// @throws Error as Op::backward.
std::vector<ValueId> input_gradients(Graph& graph, NodeId id, std::vector<ValueId> output_gradients,
                                     const std::vector<bool>& needed);

/// Returns, for each of `gradients`, whether it is one, and not `none`.
std::vector<bool> are_given(const std::vector<ValueId>& gradients);

/// Returns the positions of the inputs for which `needed` is true and `is_given` is false. A
/// training in which there is such an input is refused.
std::vector<std::size_t> missing_gradients(const std::vector<bool>& needed,
                                           const std::vector<bool>& is_given);

/// Says, of a forward value, why no gradient goes back from it, and what to do, as in `depends on
/// parameters only by way of floor "step", which lets no gradient back; let it depend on one in
/// another way, too`. `dependent` says, for each ValueId of a forward value, whether a gradient is
/// computed of it, which is false for `value`.
std::string why_without_gradient(const Graph& graph, const std::vector<bool>& dependent,
                                 ValueId value);

}  // namespace penstock::graph
