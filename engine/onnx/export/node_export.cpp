#include "engine/onnx/export/node_export.hpp"

#include <algorithm>
#include <utility>

#include "engine/onnx/format/tensor_values.hpp"
#include "penstock/error.hpp"

namespace penstock {

std::vector<std::string> NodeExport::inputs() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < input_count(); ++i) all.push_back(input(i));
  return all;
}

bool NodeExport::is_read(std::size_t i) const {
  const graph::ValueId value = node_.outputs[i];
  const auto reads = [value](const graph::Node& node) {
    return std::ranges::find(node.inputs, value) != node.inputs.end();
  };
  const std::vector<graph::Output>& outputs = model().outputs;
  return std::ranges::find(outputs, value, &graph::Output::value) != outputs.end() ||
         std::ranges::any_of(model().nodes, reads);
}

bool NodeExport::is_open(std::size_t i, std::int64_t axis) const {
  return types_.is_open(node_.inputs[i],
                        static_cast<std::size_t>(axis < 0 ? axis + rank(i) : axis));
}

std::int64_t NodeExport::size(std::size_t i, std::int64_t axis) const {
  if (is_open(i, axis)) refuse_export("it needs a size that depends on the number of samples");
  return type(i).shape[axis];
}

std::string NodeExport::add(const std::string& op_type, std::vector<std::string> inputs,
                            OnnxSettings settings) {
  return add_all(op_type, std::move(inputs), 1, std::move(settings))[0];
}

std::vector<std::string> NodeExport::add_all(const std::string& op_type,
                                             std::vector<std::string> inputs, std::size_t count,
                                             OnnxSettings settings) {
  OnnxNode node{.name = nodes_.unused_node(node_.name + "/" + op_type),
                .op_type = op_type,
                .inputs = std::move(inputs),
                .attributes = std::move(settings)};
  for (std::size_t i = 0; i < count; ++i) node.outputs.push_back(nodes_.unused_value(node.name));
  std::vector<std::string> outputs = node.outputs;
  nodes_.add(std::move(node));
  added_ = true;
  return outputs;
}

void NodeExport::result(const std::string& op_type, std::vector<std::string> inputs,
                        OnnxSettings settings) {
  results(op_type, std::move(inputs), 1, std::move(settings));
}

void NodeExport::results(const std::string& op_type, std::vector<std::string> inputs,
                         std::size_t count, OnnxSettings settings) {
  OnnxNode node{.name = nodes_.unused_node(node_.name),
                .op_type = op_type,
                .inputs = std::move(inputs),
                .attributes = std::move(settings)};
  for (std::size_t i = 0; i < count; ++i) node.outputs.push_back(name_of(node_.outputs[i]));
  nodes_.add(std::move(node));
}

void NodeExport::result_is(const std::string& name, std::size_t i) {
  std::string& of_output = names_[graph::index(node_.outputs[i])];
  OnnxNode* const last = added_ && !nodes_.all().empty() ? &nodes_.all().back() : nullptr;
  if (!last || last->outputs != std::vector<std::string>{name} || last->op_type == "Constant") {
    of_output = name;
    return;
  }
  last->name = nodes_.unused_node(node_.name);
  last->outputs = {of_output};
}

std::string NodeExport::in_result_shape(const std::string& x) {
  const Shape& shape = result_type().shape;
  Dims dims;
  bool has_rest = false;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!types_.is_open(node_.outputs[0], axis)) {
      dims.push_back(shape.begin()[axis]);
    } else if (types_.is_same_size(node_.inputs[0], node_.outputs[0], axis)) {
      dims.push_back(0);
    } else {
      if (has_rest) refuse_export("two axes of its new shape depend on the number of samples");
      has_rest = true;
      dims.push_back(-1);
    }
  }
  return add("Reshape", {x, list(dims)});
}

std::string NodeExport::reshaped(const std::string& x, std::int64_t kept, const Dims& dims) {
  Dims all(static_cast<std::size_t>(kept), 0);
  all.insert(all.end(), dims.begin(), dims.end());
  return add("Reshape", {x, list(all)});
}

std::string NodeExport::transposed(const std::string& x, const Dims& order) {
  return add("Transpose", {x}, {integers_setting("perm", order)});
}

std::string NodeExport::unsqueezed(const std::string& x, const Dims& axes) {
  return add("Unsqueeze", {x, list(axes)});
}

std::string NodeExport::cast(const std::string& x, DType dtype) {
  return add("Cast", {x}, {integer_setting("to", static_cast<std::int64_t>(onnx_type_of(dtype)))});
}

void refuse_export(const std::string& text) {
  throw Error(Errc::unsupported, text);
}

}  // namespace penstock
