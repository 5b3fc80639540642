#include "engine/onnx/format/write_onnx_file.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace penstock {
namespace {

/// An AttributeType is the kind of an attribute's value; the numbers are those of the format.
enum class AttributeType { real = 1, integer = 2, text = 3, tensor = 4, reals = 6, integers = 7 };

WireMessage attribute_message(const OnnxAttribute& attribute) {
  WireMessage message;
  message.text(1, attribute.name);
  const auto set_type = [&](AttributeType type) {
    message.integer(20, static_cast<std::int64_t>(type));
  };
  if (attribute.real) {
    message.real(2, *attribute.real);
    set_type(AttributeType::real);
  } else if (attribute.integer) {
    message.integer(3, *attribute.integer);
    set_type(AttributeType::integer);
  } else if (attribute.text) {
    message.text(4, *attribute.text);
    set_type(AttributeType::text);
  } else if (attribute.tensor) {
    message.message(5, onnx_message(*attribute.tensor));
    set_type(AttributeType::tensor);
  } else if (!attribute.texts.empty()) {
    constexpr std::int64_t texts = 8;
    for (const std::string& text : attribute.texts) message.text(9, text);
    message.integer(20, texts);
  } else if (!attribute.reals.empty()) {
    message.reals(7, attribute.reals);
    set_type(AttributeType::reals);
  } else {
    message.integers(8, attribute.integers);
    set_type(AttributeType::integers);
  }
  return message;
}

WireMessage node_message(const OnnxNode& node) {
  WireMessage message;
  for (const std::string& input : node.inputs) message.text(1, input);
  for (const std::string& output : node.outputs) message.text(2, output);
  if (!node.name.empty()) message.text(3, node.name);
  message.text(4, node.op_type);
  for (const OnnxAttribute& attribute : node.attributes)
    message.message(5, attribute_message(attribute));
  if (!node.domain.empty()) message.text(7, node.domain);
  return message;
}

WireMessage shape_message(const std::vector<OnnxDim>& dims) {
  WireMessage message;
  for (const OnnxDim& dim : dims) {
    WireMessage of_dim;
    if (dim.size)
      of_dim.integer(1, *dim.size);
    else if (!dim.name.empty())
      of_dim.text(2, dim.name);
    message.message(1, std::move(of_dim));
  }
  return message;
}

WireMessage value_message(const OnnxValueInfo& value) {
  WireMessage of_tensor;
  of_tensor.integer(1, static_cast<std::int64_t>(value.type));
  if (value.shape) of_tensor.message(2, shape_message(*value.shape));
  WireMessage type;
  type.message(1, std::move(of_tensor));
  WireMessage message;
  message.text(1, value.name);
  message.message(2, std::move(type));
  return message;
}

WireMessage graph_message(const OnnxGraph& graph) {
  WireMessage message;
  for (const OnnxNode& node : graph.nodes) message.message(1, node_message(node));
  message.text(2, graph.name);
  for (const auto& tensor : graph.initializers) message.message(5, onnx_message(*tensor));
  for (const OnnxValueInfo& input : graph.inputs) message.message(11, value_message(input));
  for (const OnnxValueInfo& output : graph.outputs) message.message(12, value_message(output));
  return message;
}

WireMessage entry_message(const std::string& key, const std::string& value) {
  WireMessage entry;
  entry.text(1, key);
  entry.text(2, value);
  return entry;
}

}  // namespace

WireMessage onnx_message(const OnnxTensor& tensor) {
  WireMessage message;
  message.integers(1, tensor.dims);
  message.integer(2, static_cast<std::int64_t>(tensor.type));
  message.text(8, tensor.name);
  if (tensor.raw) message.bytes(9, *tensor.raw);
  for (const auto& [key, value] : tensor.external) message.message(13, entry_message(key, value));
  constexpr std::int64_t in_another_file = 1;
  if (!tensor.external.empty()) message.integer(14, in_another_file);
  return message;
}

WireMessage onnx_message(const OnnxFile& file) {
  WireMessage message;
  message.integer(1, file.ir_version);
  message.text(2, file.producer);
  message.message(7, graph_message(file.graph));
  for (const auto& [domain, version] : file.opsets) {
    WireMessage opset;
    opset.text(1, domain);
    opset.integer(2, version);
    message.message(8, std::move(opset));
  }
  for (const auto& [key, value] : file.metadata) message.message(14, entry_message(key, value));
  return message;
}

void write_message(const WireMessage& message, OutputFile& file) {
  message.for_each_piece([&](std::span<const std::byte> piece) { file.write(piece); });
}

std::string bytes_of(const WireMessage& message) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(message.size()));
  message.for_each_piece([&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

}  // namespace penstock
