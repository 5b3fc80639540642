#include "engine/model/network_builder.hpp"

#include <algorithm>

#include "penstock/error.hpp"

namespace penstock {
namespace {

Shape one_sample(const Shape& sample) {
  std::vector<std::int64_t> dims{1};
  dims.insert(dims.end(), sample.begin(), sample.end());
  return Shape(dims);
}

bool any_named(const auto& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& e) { return e.name == name; });
}

bool any_value_named(const graph::Graph& graph, graph::ValueKind kind, const std::string& name) {
  return std::any_of(graph.values.begin(), graph.values.end(), [&](const graph::Value& value) {
    return value.kind == kind && value.name == name;
  });
}

}  // namespace

graph::ValueId NetworkBuilder::input(const std::string& name, const Shape& sample, DType dtype) {
  expect_new(any_value_named(graph_, graph::ValueKind::input, name), "input", name);
  if (sample.elements() == 0 || sample.rank() == Shape::max_rank)
    refuse(Errc::shape_mismatch, "input \"" + name +
                                     "\": expected up to 7 dimensions of 1 or more, got " +
                                     to_string(sample));
  const auto id = static_cast<graph::ValueId>(graph_.values.size());
  graph_.values.push_back(
      {.name = name, .type = {dtype, one_sample(sample)}, .kind = graph::ValueKind::input});
  graph_.inputs.push_back(id);
  return id;
}

graph::ValueId NetworkBuilder::variable(const std::string& name, const Shape& shape,
                                        const graph::Initializer& initializer,
                                        graph::ValueKind kind) {
  const bool used = std::any_of(
      graph_.variables.begin(), graph_.variables.end(),
      [&](const graph::Variable& other) { return graph_.value(other.value).name == name; });
  expect_new(used, "parameter", name);
  const auto id = static_cast<graph::ValueId>(graph_.values.size());
  graph_.values.push_back({.name = name, .type = {DType::f32, shape}, .kind = kind});
  graph_.variables.push_back({.value = id, .initializer = initializer});
  return id;
}

graph::ValueId NetworkBuilder::node(const graph::Op& op, std::vector<graph::ValueId> inputs,
                                    graph::Attributes attributes, const std::string& name) {
  const auto id = graph::append(graph_, op, std::move(inputs), std::move(attributes), name);
  if (!open_.empty()) graph_.node(id).block = open_.back().block;
  return graph_.node(id).outputs.front();
}

void NetworkBuilder::output(const std::string& name, graph::ValueId value) {
  expect_new(any_named(graph_.outputs, name), "output", name);
  graph_.outputs.push_back({.name = name, .value = value});
}

void NetworkBuilder::loss(graph::ValueId value) {
  if (graph_.loss != graph::none)
    refuse(Errc::invalid_model, "expected one loss, got " + described(graph_.loss) + " and then " +
                                    described(value) +
                                    ": add them up and wrap the sum in identity_loss");
  const graph::TensorType& type = graph_.type(value);
  if (type.dtype != DType::f32)
    refuse(Errc::shape_mismatch, "loss: expected a value of type f32, got " + to_string(type));
  graph_.loss = value;
}

std::string NetworkBuilder::described(graph::ValueId value) const {
  const graph::NodeId producer = graph_.value(value).producer;
  return producer == graph::none ? "\"" + graph_.value(value).name + "\""
                                 : graph::to_string(graph_.node(producer));
}

void NetworkBuilder::expect_new_layer(const graph::Op& op, const std::string& name) const {
  expect_new(any_named(graph_.nodes, name), op.name, name);
}

int NetworkBuilder::open_block(const std::string& name, int ipu) {
  if (name.empty()) refuse(Errc::invalid_model, "block: expected a name, got \"\"");
  if (ipu < graph::none)
    refuse(Errc::invalid_topology, "block \"" + name + "\": expected IPU 0 or more, or -1 for " +
                                       "any, got " + std::to_string(ipu));
  const graph::BlockId id = find_or_add_block(name);
  graph::Block& block = graph_.blocks[static_cast<std::size_t>(id)];
  if (ipu != graph::none && block.ipu != graph::none && block.ipu != ipu)
    refuse(Errc::invalid_topology, "block \"" + name + "\": expected IPU " +
                                       std::to_string(block.ipu) + " as before, got " +
                                       std::to_string(ipu));
  if (ipu != graph::none) block.ipu = ipu;
  open_.push_back({.number = scopes_, .block = id});
  return scopes_++;
}

void NetworkBuilder::close_block(int scope) noexcept {
  const auto at = std::find_if(open_.begin(), open_.end(),
                               [&](const Scope& open) { return open.number == scope; });
  if (at != open_.end()) open_.erase(at);
}

graph::BlockId NetworkBuilder::find_or_add_block(const std::string& name) {
  const auto at = std::find_if(graph_.blocks.begin(), graph_.blocks.end(),
                               [&](const graph::Block& block) { return block.name == name; });
  const auto id = static_cast<graph::BlockId>(at - graph_.blocks.begin());
  if (at == graph_.blocks.end()) graph_.blocks.push_back({.name = name});
  return id;
}

void NetworkBuilder::refuse(Errc code, const std::string& text) const {
  throw Error(code, "model \"" + graph_.name + "\": " + text);
}

void NetworkBuilder::expect_new(bool used, std::string_view kind, const std::string& name) const {
  const std::string what(kind);
  if (name.empty()) refuse(Errc::invalid_model, what + ": expected a name, got \"\"");
  if (used) refuse(Errc::invalid_model, what + " \"" + name + "\": the name is used already");
}

NetworkBuilder::Draft::Draft(NetworkBuilder& builder)
    : graph_(builder.graph_),
      values_(graph_.values.size()),
      nodes_(graph_.nodes.size()),
      variables_(graph_.variables.size()) {}

NetworkBuilder::Draft::~Draft() {
  if (kept_) return;
  graph_.values.resize(values_);
  graph_.nodes.resize(nodes_);
  graph_.variables.resize(variables_);
}

}  // namespace penstock
