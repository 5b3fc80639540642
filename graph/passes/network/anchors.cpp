#include "graph/passes/network/anchors.hpp"

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the value called `name` that a node computes; failing that, another value called `name`;
/// else `none`.
ValueId find_value(const Graph& graph, const std::string& name) {
  ValueId found = none;
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].name != name) continue;
    found = static_cast<ValueId>(id);
    if (graph.values[id].kind == ValueKind::computed) break;
  }
  return found;
}

/// Returns why no anchor can be on the value `id`, or an empty text if an anchor can be on it.
/// `gradient` says whether the anchor asks for the value's gradient.
std::string objection(const Graph& graph, ValueId id, bool gradient) {
  if (id == none) return "the model has no tensor of that name";
  const Value& value = graph.value(id);
  if (gradient && value.type.dtype != DType::f32) return "only tensors of type f32 have gradients";
  switch (value.kind) {
    case ValueKind::computed:
      return value.producer == none ? "it is computed in training only" : "";
    case ValueKind::parameter:
      return gradient ? "" : "it is a parameter, which the model gives by Model::weight";
    case ValueKind::input:
      return gradient ? "it is an input, whose gradient nobody computes"
                      : "it is an input, which the host has already";
    default:
      return "it is a buffer, which the model gives by Model::weight";
  }
}

}  // namespace

Graph with_anchors(Graph graph, std::span<const AnchorRequest> anchors, bool training) {
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const AnchorRequest& anchor = anchors[i];
    const auto refuse = [&](const std::string& why) {
      throw Error(Errc::invalid_argument, "options.output.anchors[" + std::to_string(i) +
                                              "]: expected the name of a layer" +
                                              (anchor.gradient ? " or a parameter" : "") +
                                              ", got " + quoted_text(anchor.tensor) + ": " + why);
    };
    if (anchor.gradient && !training)
      throw Error(Errc::invalid_argument,
                  "options.output.anchors[" + std::to_string(i) +
                      "].gradient: expected false, for inference computes no gradients, got true");
    const ValueId value = find_value(graph, anchor.tensor);
    if (const std::string why = objection(graph, value, anchor.gradient); !why.empty()) refuse(why);
    const auto position = static_cast<std::int32_t>(i);
    if (anchor.gradient)
      graph.gradients.push_back({.value = value, .anchor = position});
    else
      graph.outputs.push_back({.name = anchor.tensor, .value = value, .anchor = position});
  }
  return graph;
}

}  // namespace penstock::graph
