#include "engine/dynamic_length.hpp"

#include <algorithm>
#include <string>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the shortest length that all dynamic axes of `graph` may have.
std::int64_t shortest_of(const graph::Graph& graph) {
  return std::ranges::max(graph.dynamic_axes, {}, &graph::DynamicAxis::shortest).shortest;
}

}  // namespace

std::int64_t length_of(const graph::Graph& graph) {
  if (graph.dynamic_axes.empty()) return 0;
  const graph::DynamicAxis& dynamic = graph.dynamic_axes.front();
  return graph.type(dynamic.input).shape[dynamic.axis];
}

DynamicLength dynamic_length_of(const graph::Graph& graph, const graph::Plan& plan) {
  DynamicLength result;
  for (const graph::TensorInfo& input : plan.inputs) {
    const auto is_of_input = [&](const graph::DynamicAxis& dynamic) {
      return graph.value(dynamic.input).name == input.name;
    };
    const auto found = std::ranges::find_if(graph.dynamic_axes, is_of_input);
    result.axes.push_back(found == graph.dynamic_axes.end() ? 0 : found->axis);
  }
  if (graph.dynamic_axes.empty()) return result;
  result.shortest = shortest_of(graph);
  result.longest = length_of(graph);
  return result;
}

graph::Graph graph_of_length(const graph::Graph& graph, std::int64_t length) try {
  return graph::with_length(graph, length);
} catch (const Error& error) {
  throw Error(error.code(), "model " + quoted_text(graph.name) +
                                ": with dynamic axes of the length " + std::to_string(length) +
                                ": " + error.what());
}

void expect_shortest_length(const graph::Graph& graph) {
  if (!graph.dynamic_axes.empty()) graph_of_length(graph, shortest_of(graph));
}

std::int64_t length_in(std::span<const Tensor> inputs, const graph::Plan& plan,
                       const DynamicLength& dynamic) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int axis = dynamic.axes[i];
    if (axis == 0) continue;
    const auto refuse = [&](const std::string& expected, std::int64_t got) {
      throw Error(Errc::shape_mismatch, "model " + quoted_text(plan.name) + ": input " +
                                            quoted_text(plan.inputs[i].name) + ": expected " +
                                            expected + " on its dynamic axis " +
                                            std::to_string(axis) + ", got " + std::to_string(got));
    };
    const std::int64_t got = inputs[i].shape()[axis];
    if (got < dynamic.shortest || got > dynamic.longest)
      refuse(dynamic.shortest == dynamic.longest
                 ? "the size " + std::to_string(dynamic.longest)
                 : "a size from " + std::to_string(dynamic.shortest) + " to " +
                       std::to_string(dynamic.longest),
             got);
    if (length != 0 && got != length)
      refuse("the size " + std::to_string(length) + " that inputs before it have", got);
    length = got;
  }
  return length;
}

}  // namespace penstock
