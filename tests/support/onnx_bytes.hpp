// These functions write files in the ONNX format, for tests of what reads them. What they write
// need not be a sound model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock::testing {

/// Returns the bytes of one field of a message.
std::string wire_integer(unsigned field, std::int64_t value);
std::string wire_real(unsigned field, float value);
std::string wire_bytes(unsigned field, std::string_view content);

/// An OnnxDimension is a number or a name.
using OnnxDimension = std::variant<std::int64_t, std::string>;

/// An OnnxGraphBytes has the bytes of a GraphProto.
struct OnnxGraphBytes {
  std::string bytes;
};

/// An OnnxSetting is a value of an attribute.
using OnnxSetting = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                 Tensor, OnnxGraphBytes>;

/// An OnnxNodeBytes describes a node.
struct OnnxNodeBytes {
  std::string op_type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, OnnxSetting>> attributes = {};
  std::string name = {};
  std::string domain = {};
};

/// Returns the bytes of a TensorProto.
std::string onnx_tensor(const std::string& name, const Tensor& tensor);
/// Returns the bytes of a NodeProto.
std::string onnx_node(const OnnxNodeBytes& node);

/// An OnnxBytes is a file that is put together piece by piece.
class OnnxBytes {
 public:
  OnnxBytes& input(const std::string& name, const std::vector<OnnxDimension>& dims,
                   DType dtype = DType::f32);
  OnnxBytes& output(const std::string& name);
  OnnxBytes& initializer(const std::string& name, const Tensor& tensor);
  OnnxBytes& node(const OnnxNodeBytes& node);
  /// Adds a field to the graph as it is.
  OnnxBytes& graph_field(const std::string& bytes);
  /// Adds a field to the model as it is.
  OnnxBytes& model_field(const std::string& bytes);

  /// Returns the graph alone, which an attribute of a node may have.
  OnnxGraphBytes graph() const { return {graph_}; }
  /// Returns the bytes of a file with operators of the version `opset`.
  std::string file(std::int64_t opset = 17) const;

 private:
  std::string graph_, model_;
};

}  // namespace penstock::testing
