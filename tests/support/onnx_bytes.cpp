#include "tests/support/onnx_bytes.hpp"

#include <cstring>

namespace penstock::testing {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

std::string tag(unsigned field, unsigned type) {
  return varint(std::uint64_t{field} << 3 | type);
}

/// Returns the number that ONNX has for a type of elements.
std::int64_t type_number(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 1;
    case DType::u8:
      return 2;
    case DType::i32:
      return 6;
    case DType::i64:
      return 7;
    case DType::boolean:
      break;
  }
  return 9;
}

/// A SettingBytes writes the fields of an attribute that a setting fills.
struct SettingBytes {
  std::string operator()(std::int64_t value) const { return wire_integer(3, value); }
  std::string operator()(float value) const { return wire_real(2, value); }
  std::string operator()(const std::string& value) const { return wire_bytes(4, value); }
  std::string operator()(const Tensor& value) const {
    return wire_bytes(5, onnx_tensor("", value));
  }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    std::string bytes;
    for (const std::int64_t value : values) bytes += wire_integer(8, value);
    return bytes;
  }
  std::string operator()(const OnnxGraphBytes& graph) const { return wire_bytes(6, graph.bytes); }
};

std::string dimension(const OnnxDimension& dim) {
  if (const std::int64_t* const size = std::get_if<std::int64_t>(&dim))
    return wire_integer(1, *size);
  return wire_bytes(2, std::get<std::string>(dim));
}

}  // namespace

std::string wire_integer(unsigned field, std::int64_t value) {
  return tag(field, 0) + varint(static_cast<std::uint64_t>(value));
}

std::string wire_real(unsigned field, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return tag(field, 5) + bytes;
}

std::string wire_bytes(unsigned field, std::string_view content) {
  return tag(field, 2) + varint(content.size()) + std::string(content);
}

std::string onnx_tensor(const std::string& name, const Tensor& tensor) {
  std::string bytes;
  for (const std::int64_t size : tensor.shape()) bytes += wire_integer(1, size);
  bytes += wire_integer(2, type_number(tensor.dtype())) + wire_bytes(8, name);
  return bytes + wire_bytes(9, {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
}

std::string onnx_node(const OnnxNodeBytes& node) {
  std::string bytes;
  for (const std::string& input : node.inputs) bytes += wire_bytes(1, input);
  for (const std::string& output : node.outputs) bytes += wire_bytes(2, output);
  bytes += wire_bytes(3, node.name) + wire_bytes(4, node.op_type) + wire_bytes(7, node.domain);
  for (const auto& [name, setting] : node.attributes)
    bytes += wire_bytes(5, wire_bytes(1, name) + std::visit(SettingBytes{}, setting));
  return bytes;
}

OnnxBytes& OnnxBytes::input(const std::string& name, const std::vector<OnnxDimension>& dims,
                            DType dtype) {
  std::string shape;
  for (const OnnxDimension& dim : dims) shape += wire_bytes(1, dimension(dim));
  const std::string type = wire_integer(1, type_number(dtype)) + wire_bytes(2, shape);
  return graph_field(wire_bytes(11, wire_bytes(1, name) + wire_bytes(2, wire_bytes(1, type))));
}

OnnxBytes& OnnxBytes::output(const std::string& name) {
  return graph_field(wire_bytes(12, wire_bytes(1, name)));
}

OnnxBytes& OnnxBytes::initializer(const std::string& name, const Tensor& tensor) {
  return graph_field(wire_bytes(5, onnx_tensor(name, tensor)));
}

OnnxBytes& OnnxBytes::node(const OnnxNodeBytes& node) {
  return graph_field(wire_bytes(1, onnx_node(node)));
}

OnnxBytes& OnnxBytes::graph_field(const std::string& bytes) {
  graph_ += bytes;
  return *this;
}

OnnxBytes& OnnxBytes::model_field(const std::string& bytes) {
  model_ += bytes;
  return *this;
}

std::string OnnxBytes::file(std::int64_t opset) const {
  return wire_integer(1, 8) + model_ + wire_bytes(7, graph_) +
         wire_bytes(8, wire_integer(2, opset));
}

}  // namespace penstock::testing
