// Models come from files in the ONNX format, which other libraries write, by Model::from_onnx(),
// and become such files by Model::save_onnx(). These are the options of both, and functions that
// run such a file as it is, say what is in it, and exchange its weights. docs/onnx.md lists the
// operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/named_tensor.hpp"

namespace penstock {

class Model;

/// OnnxSamples say whether an axis of a file's tensors counts the samples of a micro-batch.
enum class OnnxSamples : std::uint8_t {
  /// If the sizes of the inputs have a common name, such as "batch", or if all inputs have an axis
  /// 0 of one size, that axis counts samples. If the operators mix what is along it, or if there is
  /// no such axis, it is as with `whole`.
  automatic,
  axis,  ///< An axis counts samples, as `automatic` finds it; otherwise the file is refused.
  /// A sample is a whole set of the file's inputs: inputs and outputs of the model have one axis
  /// more than those of the file, in front.
  whole,
};

/// OnnxOptions say how Model::from_onnx() makes a model of a file.
struct OnnxOptions {
  /// These are the sizes that names of dimensions stand for, apart from the name of the axis that
  /// counts samples.
  std::map<std::string, std::int64_t> dimensions = {};
  /// Some operators need to know inputs when the model is made, such as the shape of Reshape. The
  /// values of inputs that are given here are used for that, and such inputs are none of the model.
  std::vector<NamedTensor> inputs = {};
  OnnxSamples samples = OnnxSamples::automatic;  ///< This says whether an axis counts samples.
  /// Initializers of floats with one axis or more become parameters, which are trained, if their
  /// names match one of these patterns, in which a `*` matches any characters and a `?` matches
  /// one. Others become constants, as do those of which an element is not finite. Of tensors that
  /// PyTorch's exporter calls buffers, only a pattern that is the whole name makes parameters.
  std::vector<std::string> parameters = {"*"};
  /// Initializers whose names match one of these patterns become constants in any case, such as
  /// tables of positions that no gradient is to change.
  std::vector<std::string> constants = {};
};

/// OnnxWeights say where Model::save_onnx() writes the weights.
enum class OnnxWeights : std::uint8_t {
  inside,  ///< The weights are in the file itself, unless it would then have 2 GB or more.
  /// The weights are in a file beside it, which has the same name with ".data" behind it.
  beside,
};

/// OnnxExportOptions say what Model::save_onnx() writes.
struct OnnxExportOptions {
  OnnxWeights weights = OnnxWeights::inside;  ///< This says where the weights are written.
  /// These are the names of the outputs that the file has; each is that of an output of the model,
  /// or else of a layer. If there are none, the file has all outputs of the model that are computed
  /// without a loss, or all if there are no others.
  std::vector<std::string> outputs = {};
  /// The file takes this number of samples at a time. If it is 0, the file takes any number: the
  /// size of that axis has the name "batch".
  std::int64_t batch_size = 0;
  /// These texts are in the file under their names, for programs that read it: ONNX calls them
  /// metadata_props. They change nothing that the file computes. Other readers expect UTF-8.
  std::map<std::string, std::string> metadata = {};
};

/// Computes the outputs of the ONNX file at `path` for `inputs`, which are the file's inputs by
/// name, in the file's types and shapes. If an axis of all inputs counts samples, and the operators
/// keep them apart, there may be another number of samples than the file says. Outputs have the
/// file's types and, but for the number of samples, its shapes. A file that was exported for
/// training computes what it says: a batch norm in its form for training takes the statistics of
/// the inputs, and a Dropout that drops elements is refused. An InferenceModel of the model that
/// Model::from_onnx() makes of the file computes what the trained network does.
/// @throws Error as Model::from_onnx(); invalid_argument for an input that is missing or that the
/// file does not have; shape_mismatch for one of another type or shape; invalid_data for a bool
/// whose byte is neither 0 nor 1.
std::vector<NamedTensor> run_onnx(const std::string& path, const std::vector<NamedTensor>& inputs);

/// Returns the tensor in a file that has one in ONNX's format, as those of ONNX's tests have
/// (input_0.pb), and its name. Elements that the file keeps in another file are read from there,
/// if that file is in the same directory or in one within it. @throws Error io_error, corrupt_file,
/// and unsupported for a type that no tensor has.
NamedTensor load_onnx_tensor(const std::string& path);

/// Returns the initializers of the ONNX file at `path` under their names, such as for a file in the
/// safetensors format. Elements of other floating-point types are converted to f32.
/// @throws Error io_error, corrupt_file, and unsupported for a type that no tensor has.
std::vector<NamedTensor> load_onnx_weights(const std::string& path);

/// Writes the ONNX file at `from`, with `weights` in place of the initializers of their names, to
/// `to`, whole or not at all. All else is as it was, but the weights are in the file itself.
/// Weights of f32 are rounded to the floating-point type that the file has for them.
/// @throws Error as load_onnx_weights(); invalid_argument for a name that no initializer has, and
/// for a number that is too large for the file's type; shape_mismatch for a weight of another shape
/// or type; unsupported for a file of 2 GB or more, and for one in another directory if tensors
/// that are not among the graph's initializers have elements in other files: sparse initializers,
/// and tensors of nodes, of their branches, of functions and of the training information.
void save_onnx_with_weights(const std::string& from, const std::string& to,
                            const std::vector<NamedTensor>& weights);

/// An OnnxOperatorUse says how often a file uses an operator.
struct OnnxOperatorUse {
  std::string op_type;  ///< This is the operator's name, behind that of its domain if it has one.
  std::vector<std::string> nodes = {};  ///< These are the names of the nodes that use it.
  bool supported = true;  ///< This says whether Model::from_onnx() knows the operator.
};

/// An OnnxRefusal says which nodes of an operator Model::from_onnx() cannot import, and why.
struct OnnxRefusal {
  std::string op_type;  ///< This is the operator's name, behind that of its domain if it has one.
  std::string reason;   ///< This is a sentence about each of the nodes, without its name.
  std::vector<std::string> nodes = {};  ///< These are the names of the nodes.
};

/// An OnnxTensorInfo describes an input or output of a file, or an initializer.
struct OnnxTensorInfo {
  std::string name;  ///< This is the name of the tensor.
  std::string type;  ///< This is the name of its type in ONNX, such as "float".
  /// These are its dimensions, as numbers or names; "?" stands for one that the file does not say.
  std::vector<std::string> shape = {};
};

/// An OnnxSummary says what is in a file.
struct OnnxSummary {
  std::string producer = {};    ///< This is the program that has written the file.
  std::int64_t ir_version = 0;  ///< This is the version of the format.
  std::int64_t opset = 0;       ///< This is the version of the operators.
  /// These are the texts that OnnxExportOptions::metadata calls so, by name. Of several that have
  /// the same name, this is the first one.
  std::map<std::string, std::string> metadata = {};
  std::vector<OnnxTensorInfo> inputs = {};        ///< These are the inputs that the file asks for.
  std::vector<OnnxTensorInfo> outputs = {};       ///< These are the outputs.
  std::vector<OnnxTensorInfo> initializers = {};  ///< These are the tensors that the file has.
  std::vector<OnnxOperatorUse> operators = {};    ///< These are the operators, by name.
};

/// An OnnxLayer is a layer of the model that Model::from_onnx() makes of a file.
struct OnnxLayer {
  std::string name;  ///< This is the name of the layer, as Model::stage_assignment() has it.
  /// This is the name of what the layer computes in inference, such as "conv2d", "relu" or
  /// "batch_norm_inference".
  std::string op = {};
  /// These are the dimensions of the layer's first output, as in OnnxTensorInfo. Where an axis of
  /// the file counts samples, it is the first one here, and its size is what the file says of it: a
  /// name, such as "batch", or a number.
  std::vector<std::string> shape = {};
  /// This is how many elements the parameters have that the layer reads, which gradients change.
  /// Parameters that several layers read count for the first one alone.
  std::int64_t parameters = 0;
  /// This is how many elements the buffers have that the layer reads, which are constants of the
  /// file and running statistics. They count as parameters do.
  std::int64_t constants = 0;
  /// This is the layer's share of the time that the model's forward takes in inference for one
  /// sample, from 0 to 1, as the compiler estimates it where it measures nothing: from
  /// floating-point operations and bytes, as if each layer ran by itself.
  double cost_share = 0;
};
/// OnnxLayers are the layers of a model in the order in which they are computed. What depends on
/// constants alone was computed when the file was imported, and what depends on weights alone is
/// computed before the forward: such nodes of the file are no layers here, and their parameters
/// count for the layer that reads their results.
using OnnxLayers = std::vector<OnnxLayer>;

/// Returns a table with a line per layer, in which cost shares are percentages, and a last line
/// with the totals.
std::string to_string(const OnnxLayers& layers);

/// A LoadedOnnx is an ONNX file that has been read. The functions that take a path read the file
/// each time; this object reads it once. Tensors that the file has in other files are read when a
/// model is made. Copies refer to the same file. Several threads may use an object at the same
/// time.
class LoadedOnnx {
 public:
  /// Reads the file at `path`. @throws Error io_error and corrupt_file.
  explicit LoadedOnnx(const std::string& path);

  /// Returns what describe_onnx() returns.
  const OnnxSummary& summary() const noexcept;
  /// Returns the bytes of the file as they were read, such as for a checksum of what model() makes
  /// a model of. They are there as long as this object or a copy of it. Tensors that the file has
  /// in other files are not among them.
  std::span<const std::byte> bytes() const noexcept;
  /// Returns what Model::from_onnx() returns. @throws Error as that function.
  Model model(const OnnxOptions& options) const;
  /// Returns the layers of the model that model() returns. @throws Error as model().
  OnnxLayers layers(const OnnxOptions& options) const;
  /// Returns all nodes because of which Model::from_onnx() refuses the file, by operator and
  /// reason; an empty list if the file can be imported. Nodes that need a refused node are not
  /// among them, unless their operator is not known. @throws Error as model(), but for such nodes.
  std::vector<OnnxRefusal> refusals(const OnnxOptions& options) const;
  /// Returns what run_onnx() returns. @throws Error as that function.
  std::vector<NamedTensor> run(const std::vector<NamedTensor>& inputs) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// Returns what is in the ONNX file at `path`. @throws Error io_error and corrupt_file.
OnnxSummary describe_onnx(const std::string& path);

}  // namespace penstock
