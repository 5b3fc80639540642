// These functions let layers of a NetworkBuilder have the parameters of other layers.
#include <algorithm>

#include "engine/model/network_builder.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Returns the layers to which `parameters` belong, each once.
std::vector<std::string_view> layers_of(const std::vector<std::string_view>& parameters) {
  std::vector<std::string_view> layers;
  for (const std::string_view parameter : parameters) {
    const std::string_view layer = parameter.substr(0, parameter.rfind('.'));
    if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(layer);
  }
  return layers;
}

}  // namespace

std::vector<std::string_view> NetworkBuilder::parameter_names() const {
  std::vector<std::string_view> names;
  for (const graph::Variable& variable : graph_.variables) {
    const graph::Value& value = graph_.value(variable.value);
    if (value.kind == graph::ValueKind::parameter) names.push_back(value.name);
  }
  return names;
}

graph::ValueId NetworkBuilder::find_parameter(const std::string& name) const {
  for (const graph::Variable& variable : graph_.variables) {
    const graph::Value& value = graph_.value(variable.value);
    if (value.kind == graph::ValueKind::parameter && value.name == name) return variable.value;
  }
  return graph::none;
}

graph::ValueId NetworkBuilder::parameter(const std::string& name) {
  const std::optional<std::string> source = shared_.source_of(name);
  const graph::ValueId found = find_parameter(source.value_or(name));
  if (found == graph::none)
    refuse(Errc::invalid_argument,
           "there is no parameter " + quoted_text(name) + instead_of(name, parameter_names()));
  if (source) shared_.note_use(name, false);
  return found;
}

void NetworkBuilder::share(const std::string& layer, const std::string& source) {
  const std::string subject = "share_parameters " + quoted_text(layer);
  const auto expect = [&](bool holds, const std::string& text) {
    if (!holds) refuse(Errc::invalid_argument, subject + ": " + text);
  };
  const std::vector<std::string_view> names = parameter_names();
  const auto first_of = [&](const std::string& name) {
    return std::ranges::find_if(names,
                                [&](std::string_view known) { return belongs_to(known, name); });
  };
  expect(!layer.empty(), "expected a layer's name, got \"\"");
  if (const auto taken = shared_.source_of(layer))
    expect(false, "the layer has the parameters of " + quoted_text(*taken) + " already");
  if (const auto own = first_of(layer); own != names.end())
    expect(false, "expected a layer without parameters, got one that has " +
                      quoted_text(std::string(*own)) + "; share them before the layer is added");
  for (const graph::Node& node : graph_.nodes)
    if (belongs_to(node.name, layer))
      expect(false, "expected a layer that is still to be added, got " + graph::to_string(node));
  const std::string first = shared_.source_of(source).value_or(source);
  expect(first_of(first) != names.end(), "there is no layer " + quoted_text(source) +
                                             " with parameters" +
                                             instead_of(source, layers_of(names)));
  shared_.add(layer, source);
}

void NetworkBuilder::expect_shares_used() const {
  const std::string layer = shared_.unused();
  if (layer.empty()) return;
  const graph::NodeId there = first_node_of(layer);
  refuse(Errc::invalid_model,
         "share_parameters " + quoted_text(layer) + ": " +
             (there == graph::none
                  ? "nothing has asked for the parameters of " +
                        quoted_text(*shared_.source_of(layer)) + "; add a layer whose name is " +
                        quoted_text(layer) + " or begins with that and a dot"
                  : "layer " + quoted_text(graph_.node(there).name) +
                        " has no parameters; leave this call out, or add the layer that should "
                        "have them"));
}

graph::ValueId NetworkBuilder::shared_parameter(const std::string& name, const Shape& shape) const {
  const std::optional<std::string> source = shared_.source_of(name);
  if (!source) return graph::none;
  const std::string expected = "expected a parameter " + quoted_text(*source);
  const std::string place = ", to take the place of " + quoted_text(name) + ", got ";
  const graph::ValueId found = find_parameter(*source);
  if (found == graph::none)
    throw Error(Errc::shape_mismatch,
                expected + place + "none; layers that share parameters need the same options");
  const Shape& got = graph_.type(found).shape;
  if (got != shape)
    throw Error(Errc::shape_mismatch, expected + " of shape " + to_string(shape) + place +
                                          to_string(got) +
                                          "; layers that share parameters need the same sizes");
  return found;
}

}  // namespace penstock
