#include "tests/support/model_builder.hpp"

#include <algorithm>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"

namespace penstock::testing {

using graph::ValueId;
using graph::ValueKind;

ValueId ModelBuilder::leaf(const std::string& name, const graph::TensorType& type, ValueKind kind) {
  graph_.values.push_back({.name = name, .type = type, .kind = kind});
  return static_cast<ValueId>(graph_.values.size()) - 1;
}

ValueId ModelBuilder::input(const std::string& name, std::vector<std::int64_t> sample,
                            DType dtype) {
  sample.insert(sample.begin(), 1);
  graph_.inputs.push_back(leaf(name, {dtype, Shape(sample)}, ValueKind::input));
  return graph_.inputs.back();
}

ValueId ModelBuilder::parameter(const std::string& name, const Shape& shape) {
  graph_.variables.push_back({leaf(name, {DType::f32, shape}, ValueKind::parameter)});
  return graph_.variables.back().value;
}

ValueId ModelBuilder::buffer(const std::string& name, const Shape& shape) {
  graph_.variables.push_back({leaf(name, {DType::f32, shape}, ValueKind::buffer)});
  return graph_.variables.back().value;
}

ModelBuilder& ModelBuilder::block(const std::string& name, std::int32_t ipu) {
  const auto found = std::ranges::find(graph_.blocks, name, &graph::Block::name);
  block_ = static_cast<graph::BlockId>(found - graph_.blocks.begin());
  if (found == graph_.blocks.end()) graph_.blocks.push_back({name, ipu});
  return *this;
}

ValueId ModelBuilder::apply(const graph::Op& op, std::vector<ValueId> inputs,
                            graph::Attributes attributes, const std::string& name) {
  const auto node = append(graph_, op, std::move(inputs), std::move(attributes), name);
  graph_.node(node).block = block_;
  return graph_.node(node).outputs[0];
}

ValueId ModelBuilder::apply(const std::string& op, std::vector<ValueId> inputs,
                            graph::Attributes attributes, const std::string& name) {
  return apply(graph::find_op(op), std::move(inputs), std::move(attributes), name);
}

ValueId ModelBuilder::linear(const std::string& name, ValueId x, std::int64_t features) {
  const ValueId weight = parameter(name + ".weight", {features, shape(x)[1]});
  return apply("linear", {x, weight, parameter(name + ".bias", {features})}, {}, name);
}

graph::Graph frozen(graph::Graph graph, const std::set<std::string>& names) {
  for (graph::Variable& variable : graph.variables)
    variable.frozen = names.contains(graph.value(variable.value).name);
  return graph;
}

}  // namespace penstock::testing
