#include "engine/onnx/file_uses.hpp"

#include <algorithm>
#include <filesystem>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/check_options.hpp"
#include "engine/onnx/import/import_graph.hpp"
#include "engine/onnx/import/sample_layout.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/inference_model.hpp"

namespace penstock {
namespace {

/// Returns `tensor` with axis `from` as axis `to`, and the others in their order.
Tensor with_moved_axis(const Tensor& tensor, std::size_t from, std::size_t to) {
  if (from == to) return tensor;
  Dims dims = dims_of(tensor.shape()), strides = strides_of(dims);
  const auto move = [&](Dims& numbers) {
    const std::int64_t number = numbers[from];
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(from));
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(to), number);
  };
  move(dims);
  move(strides);
  std::vector<std::int64_t> places;
  for_each_index(dims, [&](const Dims& index) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) place += index[axis] * strides[axis];
    places.push_back(place);
  });
  return moved(tensor, Shape(dims), places);
}

/// Returns a tensor of the file as the model takes it.
Tensor of_model(const Tensor& tensor, const Placement& placement) {
  if (!placement.whole) return with_moved_axis(tensor, placement.axis, 0);
  Dims dims = dims_of(tensor.shape());
  dims.insert(dims.begin(), 1);
  return tensor.reshaped(Shape(dims));
}

/// Returns a result of the model as the file has it.
Tensor of_file(const Tensor& tensor, const ImportedOutput& output, std::int64_t samples) {
  Tensor result = tensor;
  if (output.placement) {
    const Placement& placement = *output.placement;
    const Dims dims = onnx_dims(dims_of(tensor.shape()), placement, samples);
    if (!placement.whole)
      result = with_moved_axis(tensor, 0, placement.axis + (placement.outer != 1 ? 1 : 0));
    result = result.reshaped(Shape(dims));
  }
  const DType dtype = dtype_of_onnx(output.type);
  if (result.dtype() == dtype) return result;
  return result.dtype() == DType::f32 ? tensor_of(dtype, result.shape(), numbers_of(result))
                                      : tensor_of(dtype, result.shape(), integers_of(result));
}

const Tensor& input_called(const std::vector<NamedTensor>& inputs, const std::string& name) {
  const auto found = std::ranges::find(inputs, name, &NamedTensor::name);
  if (found == inputs.end())
    throw Error(Errc::invalid_argument, "run_onnx: there is no input " + quoted_text(name));
  return found->tensor;
}

/// Checks the shapes of the inputs. The axis that counts samples in the model may have another size
/// than the file says.
void check_inputs(const OnnxFile& file, const ImportedGraph& graph,
                  const std::vector<NamedTensor>& inputs) {
  for (const OnnxValueInfo& info : file.graph.inputs) {
    const auto tensor = std::ranges::find(inputs, info.name, &NamedTensor::name);
    if (tensor == inputs.end()) continue;
    const auto input = std::ranges::find(graph.inputs, info.name, &ImportedInput::name);
    std::optional<std::size_t> samples;
    if (input != graph.inputs.end() && !input->placement.whole) samples = input->placement.axis;
    check_run_input(info, tensor->tensor, samples);
  }
}

/// Returns the number of samples that the inputs have.
/// @throws Error shape_mismatch if it is 0.
std::int64_t samples_of(const ImportedGraph& graph, const std::vector<NamedTensor>& inputs) {
  for (const ImportedInput& input : graph.inputs) {
    const Shape shape = input_called(inputs, input.name).shape();
    if (input.placement.whole) return 1;
    if (shape.rank() <= input.placement.axis) continue;
    const std::int64_t samples = shape.begin()[input.placement.axis];
    if (samples < 1)
      throw Error(Errc::shape_mismatch,
                  "input " + quoted_text(input.name) + ": expected one sample or more, got none");
    return samples;
  }
  return 1;
}

std::vector<NamedTensor> run(const ImportedGraph& graph, const std::vector<NamedTensor>& inputs) {
  std::vector<NamedTensor> results;
  StepResult computed;
  const std::int64_t samples = samples_of(graph, inputs);
  const auto is_computed = [](const ImportedOutput& output) { return !output.known; };
  if (std::ranges::any_of(graph.outputs, is_computed)) {
    InferenceModel model(graph.model, {.batch_size = static_cast<int>(samples)});
    std::vector<Tensor> tensors;
    for (const std::string& name : model.inputs()) {
      const auto input = std::ranges::find(graph.inputs, name, &ImportedInput::name);
      tensors.push_back(of_model(input_called(inputs, name), input->placement));
    }
    computed = model.run(tensors);
  }
  for (const ImportedOutput& output : graph.outputs)
    results.push_back({output.name, output.known
                                        ? output.known
                                        : of_file(computed.output(output.name), output, samples)});
  return results;
}

}  // namespace

std::vector<NamedTensor> run_file(const OnnxFile& file, const std::filesystem::path& directory,
                                  const std::vector<NamedTensor>& inputs) {
  const OnnxOptions options{.inputs = inputs};
  const ImportedGraph graph =
      import_graph({.file = file, .directory = directory, .options = options, .is_run = true});
  check_inputs(file, graph, inputs);
  return run(graph, inputs);
}

}  // namespace penstock
