// These functions say which lengths the dynamic axes of a model's inputs have; see
// Model::dynamic_axis(). They are pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A DynamicLength says which lengths the calls of a plan may have.
struct DynamicLength {
  /// `axes` has the dynamic axis of each input of the plan, or 0 for an input that has none.
  std::vector<int> axes = {};
  /// The length is from `shortest` to `longest`. Both are 0 if no input has a dynamic axis.
  std::int64_t shortest = 0, longest = 0;
};

/// Returns the length that the dynamic axes of `graph` have, or 0 if it has none.
std::int64_t length_of(const graph::Graph& graph);

/// Returns which lengths the calls of `plan` may have, which was made of `graph`.
DynamicLength dynamic_length_of(const graph::Graph& graph, const graph::Plan& plan);

/// Returns `graph` with dynamic axes of the length `length`.
/// @throws Error shape_mismatch, which names the length and the layer, if a layer does not take it.
graph::Graph graph_of_length(const graph::Graph& graph, std::int64_t length);

/// Checks that the layers of `graph`, if it has dynamic axes, take the shortest length that these
/// may have. @throws Error as graph_of_length().
void expect_shortest_length(const graph::Graph& graph);

/// Returns the length of `inputs`, which have the types that `plan` takes except for their lengths,
/// or 0 if no input of `plan` has a dynamic axis.
/// @throws Error shape_mismatch, which names the input, what was expected and what came, if the
/// lengths differ or are not in the range of `dynamic`.
std::int64_t length_in(std::span<const Tensor> inputs, const graph::Plan& plan,
                       const DynamicLength& dynamic);

}  // namespace penstock
