#include "engine/onnx/export/nodes.hpp"

#include <memory>
#include <span>
#include <utility>

#include "engine/onnx/format/tensor_values.hpp"

namespace penstock {
namespace {

std::string unused(std::set<std::string>& names, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 1; !names.insert(name).second; ++number)
    name = wanted + "_" + std::to_string(number);
  return name;
}

// Models are looked at for these numbers of samples. An axis whose size depends on the number of
// samples has another size for each of them.
constexpr std::int64_t probe = 2, other_probe = 3;

}  // namespace

OnnxAttribute integer_setting(const std::string& name, std::int64_t value) {
  OnnxAttribute attribute{.name = name};
  attribute.integer = value;
  return attribute;
}

OnnxAttribute integers_setting(const std::string& name, const Dims& values) {
  return {.name = name, .integers = values};
}

OnnxAttribute real_setting(const std::string& name, double value) {
  OnnxAttribute attribute{.name = name};
  attribute.real = static_cast<float>(value);
  return attribute;
}

OnnxAttribute text_setting(const std::string& name, const std::string& value) {
  OnnxAttribute attribute{.name = name};
  attribute.text = value;
  return attribute;
}

BatchTypes::BatchTypes(const graph::Graph& model, std::int64_t batch)
    : samples_(batch != 0 ? batch : probe),
      first_(graph::with_batch(model, samples_)),
      second_(graph::with_batch(model, batch != 0 ? batch : other_probe)) {}

bool BatchTypes::is_open(graph::ValueId value, std::size_t axis) const {
  return first_.type(value).shape.begin()[axis] != second_.type(value).shape.begin()[axis];
}

bool BatchTypes::counts_samples(graph::ValueId value, std::size_t axis) const {
  return first_.type(value).shape.begin()[axis] == samples_ &&
         second_.type(value).shape.begin()[axis] == other_probe && is_open(value, axis);
}

bool BatchTypes::is_same_size(graph::ValueId one, graph::ValueId other, std::size_t axis) const {
  const auto same = [&](const graph::Graph& graph) {
    const Shape &a = graph.type(one).shape, &b = graph.type(other).shape;
    return axis < a.rank() && axis < b.rank() && a.begin()[axis] == b.begin()[axis];
  };
  return same(first_) && same(second_);
}

std::string Nodes::unused_value(const std::string& wanted) {
  return unused(value_names_, wanted);
}

std::string Nodes::unused_node(const std::string& wanted) {
  return unused(node_names_, wanted);
}

std::string Nodes::constant(const Tensor& tensor) {
  std::string key(to_string(tensor.dtype()));
  key += to_string(tensor.shape());
  key.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  std::string& name = constants_[key];
  if (!name.empty()) return name;
  name = unused_value("constant");
  add({.name = unused_node(name),
       .op_type = "Constant",
       .outputs = {name},
       .attributes = {tensor_setting("value", tensor)}});
  return name;
}

std::string Nodes::number(double value) {
  return constant(Tensor({}, {static_cast<float>(value)}));
}

std::string Nodes::list(const Dims& values) {
  return constant(
      Tensor({std::ssize(values)}, std::span<const std::int64_t>(values.data(), values.size())));
}

OnnxAttribute Nodes::tensor_setting(const std::string& name, const Tensor& tensor) {
  kept_.push_back(tensor);
  OnnxAttribute attribute{.name = name};
  attribute.tensor = std::make_shared<const OnnxTensor>(onnx_tensor_of(tensor, ""));
  return attribute;
}

}  // namespace penstock
