#include "engine/onnx/import/sample_axis.hpp"

#include <algorithm>
#include <set>

#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the tensor that the options give for an input, or an empty handle.
Tensor given_for(const OnnxValueInfo& input, const OnnxOptions& options) {
  const auto found = std::ranges::find(options.inputs, input.name, &NamedTensor::name);
  return found == options.inputs.end() ? Tensor() : found->tensor;
}

/// Returns whether the options say the size that the dimension has.
bool is_said(const OnnxDim& dim, const OnnxOptions& options) {
  return dim.size.has_value() || options.dimensions.contains(dim.name);
}

/// Returns the name of the axis that counts samples: that of an axis 0 or, failing that, the first
/// name that the options do not give a size.
std::string symbol_of(const std::vector<OnnxValueInfo>& inputs, const OnnxOptions& options) {
  std::string first;
  for (const OnnxValueInfo& input : inputs) {
    if (!input.shape) continue;
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      const OnnxDim& dim = (*input.shape)[axis];
      if (is_said(dim, options) || dim.name.empty()) continue;
      if (axis == 0) return dim.name;
      if (first.empty()) first = dim.name;
    }
  }
  return first;
}

/// Returns the size that `axis` has in the first input that has it, or nothing. Axis 1 counts
/// samples of sequences [T,N,...] alone.
std::optional<std::int64_t> size_along(const std::vector<OnnxValueInfo>& inputs, std::size_t axis) {
  const std::size_t least_rank = axis == 0 ? 1 : 3;
  for (const OnnxValueInfo& input : inputs)
    if (input.shape && input.shape->size() >= least_rank) {
      const std::optional<std::int64_t> size = (*input.shape)[axis].size;
      return size && *size >= 1 ? size : std::nullopt;
    }
  return std::nullopt;
}

/// Returns the sizes of the axes called `symbol` of tensors that the options give. They are
/// several only where the name is a guess.
std::set<std::int64_t> given_sizes(const std::vector<OnnxValueInfo>& inputs,
                                   const OnnxOptions& options, const std::string& symbol) {
  std::set<std::int64_t> sizes;
  for (const OnnxValueInfo& input : inputs) {
    const Tensor tensor = given_for(input, options);
    if (!tensor || !input.shape || tensor.shape().rank() != input.shape->size()) continue;
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis)
      if ((*input.shape)[axis].name == symbol && tensor.shape().begin()[axis] > 0)
        sizes.insert(tensor.shape().begin()[axis]);
  }
  return sizes;
}

}  // namespace

std::optional<Placement> SampleAxis::placement_of(const OnnxValueInfo& input) const {
  if (whole) return Placement{.whole = true};
  if (!input.shape) return std::nullopt;
  if (symbol.empty()) {
    const bool has_samples = input.shape->size() > axis && (*input.shape)[axis].size == samples[0];
    return has_samples ? std::optional(Placement{.axis = axis}) : std::nullopt;
  }
  const auto found = std::ranges::find(*input.shape, symbol, &OnnxDim::name);
  if (found == input.shape->end() || std::ranges::count(*input.shape, symbol, &OnnxDim::name) > 1)
    return std::nullopt;
  return Placement{.axis = static_cast<std::size_t>(found - input.shape->begin())};
}

std::vector<SampleAxis> sample_axes(const std::vector<OnnxValueInfo>& inputs,
                                    const OnnxOptions& options, bool is_run) {
  std::vector<SampleAxis> choices;
  if (options.samples != OnnxSamples::whole) {
    if (const std::string symbol = symbol_of(inputs, options); !symbol.empty()) {
      const std::set<std::int64_t> sizes_of_inputs =
          is_run ? given_sizes(inputs, options, symbol) : std::set<std::int64_t>();
      if (sizes_of_inputs.empty())
        choices.push_back({.whole = false, .symbol = symbol, .samples = {2, 3}});
      else if (sizes_of_inputs.size() == 1)
        choices.push_back({.whole = false,
                           .symbol = symbol,
                           .samples = {*sizes_of_inputs.begin(), *sizes_of_inputs.begin()}});
    } else {
      for (const std::size_t axis : {0, 1})
        if (const std::optional<std::int64_t> size = size_along(inputs, axis))
          choices.push_back({.whole = false, .axis = axis, .samples = {*size, *size}});
    }
    if (choices.empty() && options.samples == OnnxSamples::axis)
      throw Error(Errc::invalid_argument,
                  "expected inputs with an axis that can count samples, got none; "
                  "OnnxSamples::whole needs none");
  }
  if (options.samples != OnnxSamples::axis) choices.push_back({});
  return choices;
}

Dims dims_of_input(const OnnxValueInfo& input, const OnnxOptions& options, const SampleAxis& axis) {
  const std::string name = "input " + quoted_text(input.name);
  if (input.type == OnnxType::undefined)
    throw Error(Errc::unsupported, name + " is no tensor, but a sequence or the like");
  try {
    dtype_of_onnx(input.type);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
  const Tensor tensor = given_for(input, options);
  if (!input.shape) {
    if (tensor) return dims_of(tensor.shape());
    throw Error(Errc::unsupported, name + " has a shape that the file does not say");
  }
  Dims dims;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const OnnxDim& dim = (*input.shape)[i];
    const auto said = options.dimensions.find(dim.name);
    if (!axis.whole && !axis.symbol.empty() && dim.name == axis.symbol)
      dims.push_back(axis.samples[0]);
    else if (dim.size)
      dims.push_back(*dim.size);
    else if (said != options.dimensions.end())
      dims.push_back(said->second);
    else if (tensor && tensor.shape().rank() == input.shape->size())
      dims.push_back(tensor.shape().begin()[i]);
    else
      throw Error(Errc::unsupported,
                  name + " has a dimension " + std::to_string(i) + " of any size" +
                      (dim.name.empty() ? std::string()
                                        : "; OnnxOptions::dimensions may say what " +
                                              quoted_text(dim.name) + " is"));
  }
  return dims;
}

}  // namespace penstock
