#include "engine/onnx/format/read_onnx_file.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/files/input_file.hpp"
#include "engine/onnx/format/wire_reader.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

// The numbers of the fields are those of the file onnx.proto of ONNX (github.com/onnx/onnx). Each
// function reads one kind of message.
namespace penstock {
namespace {

using Bytes = std::span<const std::byte>;

/// A graph inside an attribute of a node, as the body of a loop, is one level deeper.
constexpr int deepest_graph = 16;

OnnxGraph read_graph(Bytes bytes, int depth);

std::pair<std::string, std::string> read_entry(Bytes bytes) {
  std::pair<std::string, std::string> entry;
  for (WireReader reader(bytes, "entry"); reader.next();) {
    if (reader.field() == 1) entry.first = reader.text();
    if (reader.field() == 2) entry.second = reader.text();
  }
  return entry;
}

OnnxTensor read_tensor(Bytes bytes) {
  OnnxTensor tensor;
  bool is_external = false;
  for (WireReader reader(bytes, "tensor"); reader.next();) switch (reader.field()) {
      case 1:
        reader.append_to(tensor.dims);
        break;
      case 2:
        tensor.type = static_cast<OnnxType>(reader.integer());
        break;
      case 4:
        reader.append_to(tensor.floats);
        break;
      case 5:
      case 7:
      case 11:
        reader.append_to(tensor.integers);
        break;
      case 8:
        tensor.name = reader.text();
        break;
      case 9:
        tensor.raw = reader.bytes();
        break;
      case 10:
        reader.append_to(tensor.doubles);
        break;
      case 13:
        tensor.external.insert(read_entry(reader.bytes()));
        break;
      case 14:
        is_external = reader.integer() == 1;
        break;
      default:
        break;
    }
  if (!is_external) tensor.external.clear();
  if (is_external && tensor.external.empty())
    corrupt("tensor " + quoted_text(tensor.name) +
            ": its elements are in another file, which it does not name");
  return tensor;
}

OnnxAttribute read_attribute(Bytes bytes, int depth) {
  OnnxAttribute attribute;
  for (WireReader reader(bytes, "attribute"); reader.next();) switch (reader.field()) {
      case 1:
        attribute.name = reader.text();
        break;
      case 2:
        attribute.real = reader.real();
        break;
      case 3:
        attribute.integer = reader.integer();
        break;
      case 4:
        attribute.text = reader.text();
        break;
      case 5:
        attribute.tensor = std::make_shared<const OnnxTensor>(read_tensor(reader.bytes()));
        break;
      case 6:
        attribute.graph = std::make_shared<const OnnxGraph>(read_graph(reader.bytes(), depth + 1));
        break;
      case 7:
        reader.append_to(attribute.reals);
        break;
      case 8:
        reader.append_to(attribute.integers);
        break;
      case 9:
        attribute.texts.emplace_back(reader.text());
        break;
      case 21:
        attribute.reference = reader.text();
        break;
      default:
        break;
    }
  if (attribute.name.empty()) corrupt("an attribute has no name");
  return attribute;
}

OnnxNode read_node(Bytes bytes, int depth) {
  OnnxNode node;
  for (WireReader reader(bytes, "node"); reader.next();) switch (reader.field()) {
      case 1:
        node.inputs.emplace_back(reader.text());
        break;
      case 2:
        node.outputs.emplace_back(reader.text());
        break;
      case 3:
        node.name = reader.text();
        break;
      case 4:
        node.op_type = reader.text();
        break;
      case 5:
        node.attributes.push_back(read_attribute(reader.bytes(), depth));
        break;
      case 7:
        node.domain = reader.text();
        break;
      default:
        break;
    }
  if (node.op_type.empty()) corrupt("node " + quoted_text(node.name) + " has no operator");
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

/// Reads a dimension. Some exporters write a negative size where it is left open.
OnnxDim read_dim(Bytes bytes) {
  OnnxDim dim;
  for (WireReader reader(bytes, "dimension"); reader.next();) {
    if (reader.field() == 1) dim.size = reader.integer();
    if (reader.field() == 2) dim.name = reader.text();
  }
  if (dim.size && *dim.size < 0) dim.size.reset();
  return dim;
}

std::vector<OnnxDim> read_shape(Bytes bytes) {
  std::vector<OnnxDim> dims;
  for (WireReader reader(bytes, "shape"); reader.next();)
    if (reader.field() == 1) dims.push_back(read_dim(reader.bytes()));
  return dims;
}

void read_tensor_type(Bytes bytes, OnnxValueInfo& info) {
  for (WireReader reader(bytes, "tensor type"); reader.next();) {
    if (reader.field() == 1) info.type = static_cast<OnnxType>(reader.integer());
    if (reader.field() == 2) info.shape = read_shape(reader.bytes());
  }
}

OnnxValueInfo read_value_info(Bytes bytes) {
  OnnxValueInfo info;
  for (WireReader reader(bytes, "value"); reader.next();) {
    if (reader.field() == 1) info.name = reader.text();
    if (reader.field() != 2) continue;
    for (WireReader type(reader.bytes(), "type"); type.next();)
      if (type.field() == 1) read_tensor_type(type.bytes(), info);
  }
  if (info.name.empty()) corrupt("an input or output has no name");
  return info;
}

/// Adds the name of a described value to `buffers` if the description says, as PyTorch's exporter
/// does, that the value is a buffer or another tensor that is no parameter.
void read_description(Bytes bytes, std::set<std::string>& buffers) {
  constexpr std::string_view kind = "pkg.torch.export.graph_signature.InputSpec.kind";
  std::string name;
  bool is_buffer = false;
  for (WireReader reader(bytes, "description of a value"); reader.next();) {
    if (reader.field() == 1) name = reader.text();
    if (reader.field() != 4) continue;
    const auto [key, text] = read_entry(reader.bytes());
    is_buffer = is_buffer || (key == kind && (text == "BUFFER" || text == "CONSTANT_TENSOR"));
  }
  if (is_buffer) buffers.insert(name);
}

OnnxGraph read_graph(Bytes bytes, int depth) {
  if (depth > deepest_graph)
    corrupt("graphs are inside each other, more than " + std::to_string(deepest_graph) + " deep");
  OnnxGraph graph;
  for (WireReader reader(bytes, "graph"); reader.next();) switch (reader.field()) {
      case 1:
        graph.nodes.push_back(read_node(reader.bytes(), depth));
        break;
      case 2:
        graph.name = reader.text();
        break;
      case 5:
        graph.initializers.push_back(
            std::make_shared<const OnnxTensor>(read_tensor(reader.bytes())));
        if (graph.initializers.back()->name.empty()) corrupt("an initializer has no name");
        break;
      case 11:
        graph.inputs.push_back(read_value_info(reader.bytes()));
        break;
      case 12:
        graph.outputs.push_back(read_value_info(reader.bytes()));
        break;
      case 13:
        read_description(reader.bytes(), graph.buffers);
        break;
      case 15:
        graph.has_sparse_initializers = true;
        break;
      default:
        break;
    }
  return graph;
}

std::pair<std::string, std::int64_t> read_opset(Bytes bytes) {
  std::pair<std::string, std::int64_t> opset;
  for (WireReader reader(bytes, "version of operators"); reader.next();) {
    if (reader.field() == 1) opset.first = reader.text();
    if (reader.field() == 2) opset.second = reader.integer();
  }
  if (opset.first == "ai.onnx") opset.first.clear();
  return opset;
}

OnnxFunction read_function(Bytes bytes) {
  OnnxFunction function;
  for (WireReader reader(bytes, "function"); reader.next();) switch (reader.field()) {
      case 1:
        function.name = reader.text();
        break;
      case 4:
        function.inputs.emplace_back(reader.text());
        break;
      case 5:
        function.outputs.emplace_back(reader.text());
        break;
      case 7:
        function.nodes.push_back(read_node(reader.bytes(), 0));
        break;
      case 10:
        function.domain = reader.text();
        break;
      case 11:
        function.defaults.push_back(read_attribute(reader.bytes(), 0));
        break;
      default:
        break;
    }
  if (function.name.empty()) corrupt("a function has no name");
  return function;
}

/// Returns nothing if the file has no graph.
std::optional<OnnxFile> read_model(std::shared_ptr<const std::vector<std::byte>> bytes) {
  OnnxFile file;
  file.bytes = std::move(bytes);
  bool has_graph = false;
  for (WireReader reader(*file.bytes, "model"); reader.next();) switch (reader.field()) {
      case 1:
        file.ir_version = reader.integer();
        break;
      case 2:
        file.producer = reader.text();
        break;
      case 7:
        file.graph = read_graph(reader.bytes(), 0);
        has_graph = true;
        break;
      case 8:
        file.opsets.insert(read_opset(reader.bytes()));
        break;
      case 14:
        file.metadata.insert(read_entry(reader.bytes()));
        break;
      case 25:
        file.functions.push_back(read_function(reader.bytes()));
        break;
      default:
        break;
    }
  if (!has_graph) return std::nullopt;
  return file;
}

/// Returns what may be wrong with a file that breaks the format, and what to do about it.
/// `is_complete` says that its fields can be read, and that the graph is missing. Those who write
/// the format begin with its version, but other formats may begin with the same byte.
std::string advice_for(std::span<const std::byte> bytes, bool is_complete) {
  constexpr std::byte tag_of_version{8};
  if (bytes.empty()) return "; the file is empty: export the model again";
  if (bytes.front() == tag_of_version)
    return is_complete
               ? "; the file may be cut off, or be one of another format, such as a SavedModel of "
                 "TensorFlow: copy it again, or export the model, as with tf2onnx"
               : "; the file seems to be damaged or cut off: copy it or export the model again";
  return "; this does not seem to be an ONNX file, but one of another format: export the model, as "
         "with torch.onnx.export";
}

}  // namespace

OnnxFile read_onnx(std::shared_ptr<const std::vector<std::byte>> bytes) {
  std::optional<OnnxFile> file;
  try {
    file = read_model(bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt_file) throw;
    throw Error(Errc::corrupt_file, error.what() + advice_for(*bytes, false));
  }
  if (!file) corrupt("model: there is no graph" + advice_for(*bytes, true));
  return *std::move(file);
}

std::shared_ptr<const std::vector<std::byte>> read_onnx_bytes(const std::filesystem::path& path,
                                                              const std::string& name) {
  InputFile file(path, name);
  auto bytes = std::make_shared<std::vector<std::byte>>();
  constexpr std::uint64_t first_read = std::uint64_t{1} << 30;
  for (std::uint64_t done = 0; done < file.bytes();) {
    const std::uint64_t more = std::min(file.bytes() - done, std::max(done, first_read));
    bytes->resize(static_cast<std::size_t>(done + more));
    const std::size_t got = file.read(std::span(*bytes).subspan(static_cast<std::size_t>(done)));
    done += got;
    bytes->resize(static_cast<std::size_t>(done));
    if (got < more) break;
  }
  return bytes;
}

OnnxFile read_onnx_file(const std::filesystem::path& path) {
  const std::string name = "ONNX file " + printable(path.string());
  std::shared_ptr<const std::vector<std::byte>> bytes = read_onnx_bytes(path, name);
  try {
    return read_onnx(std::move(bytes));
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

OnnxTensor read_onnx_tensor(std::span<const std::byte> bytes) {
  return read_tensor(bytes);
}

}  // namespace penstock
