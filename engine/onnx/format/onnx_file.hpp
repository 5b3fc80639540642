// An OnnxFile is what a file in the ONNX format says, before anything is made of it. The structs
// are plain data, and have the names of the format's messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// An OnnxType is the type of a tensor's elements; the numbers are those of the format. A file may
/// have others, too.
enum class OnnxType : std::int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  complex64 = 14,
  complex128 = 15,
  bf16 = 16,
};
/// Returns the name of the type in ONNX's documents, such as "float" or "int64", or "type 99".
std::string to_string(OnnxType type);

/// An OnnxTensor is a tensor whose elements are in the file, or in a file beside it.
struct OnnxTensor {
  std::string name = {};
  OnnxType type = OnnxType::undefined;
  std::vector<std::int64_t> dims = {};
  /// `raw` are the elements as they are in the file's bytes, if the tensor has them so.
  std::optional<std::span<const std::byte>> raw = {};
  std::vector<float> floats = {};
  std::vector<double> doubles = {};
  /// `integers` are the elements of every type that a file writes as integers.
  std::vector<std::int64_t> integers = {};
  /// `external` says by its keys "location", "offset" and "length" where in which other file the
  /// elements are. It is empty if they are in this file.
  std::map<std::string, std::string> external = {};
};

struct OnnxGraph;

/// An OnnxAttribute has the value of the kind that the operator wants. The others are empty.
struct OnnxAttribute {
  std::string name = {};
  /// `reference` is the name of the function's attribute whose value this attribute has.
  std::string reference = {};
  std::optional<float> real = {};
  std::optional<std::int64_t> integer = {};
  std::optional<std::string> text = {};
  std::shared_ptr<const OnnxTensor> tensor = {};
  std::shared_ptr<const OnnxGraph> graph = {};
  std::vector<float> reals = {};
  std::vector<std::int64_t> integers = {};
  std::vector<std::string> texts = {};
};

struct OnnxNode {
  std::string name = {};
  std::string op_type = {};
  std::string domain = {};
  std::vector<std::string> inputs = {};  ///< An input that is left out has an empty name.
  std::vector<std::string> outputs = {};
  std::vector<OnnxAttribute> attributes = {};

  /// Returns the attribute called `name`, or null.
  const OnnxAttribute* find(std::string_view attribute) const noexcept;
  /// Returns the integer attribute called `attribute`, or `fallback` if the node does not have it.
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const noexcept;
  /// Returns the integers of the attribute, or an empty list if the node does not have it.
  std::vector<std::int64_t> integers(std::string_view attribute) const;
};

/// An OnnxDim is a dimension: a number, or a name for whatever it is, or neither.
struct OnnxDim {
  std::optional<std::int64_t> size = {};
  std::string name = {};
};

/// An OnnxValueInfo declares an input or output of a graph.
struct OnnxValueInfo {
  std::string name = {};
  /// `type` is undefined if the value is no tensor.
  OnnxType type = OnnxType::undefined;
  std::optional<std::vector<OnnxDim>> shape = {};
};

struct OnnxGraph {
  std::string name = {};
  std::vector<OnnxNode> nodes = {};
  std::vector<std::shared_ptr<const OnnxTensor>> initializers = {};
  std::vector<OnnxValueInfo> inputs = {};  ///< Files of old versions list initializers here, too.
  std::vector<OnnxValueInfo> outputs = {};
  bool has_sparse_initializers = false;
  /// `buffers` are the names of the tensors of which the exporter says that they are no parameters.
  std::set<std::string> buffers = {};
};

/// An OnnxFunction is an operator that the file defines by a graph of other operators.
struct OnnxFunction {
  std::string name = {};
  std::string domain = {};
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<OnnxNode> nodes = {};
  std::vector<OnnxAttribute> defaults = {};  ///< `defaults` are values of attributes.
};

struct OnnxFile {
  std::int64_t ir_version = 0;
  std::string producer = {};
  std::map<std::string, std::int64_t> opsets = {};  ///< `opsets` has a version for each domain.
  std::map<std::string, std::string> metadata = {};
  OnnxGraph graph = {};
  std::vector<OnnxFunction> functions = {};
  /// `bytes` are the bytes of the file, which OnnxTensor::raw refers to.
  std::shared_ptr<const std::vector<std::byte>> bytes = {};
};

}  // namespace penstock
