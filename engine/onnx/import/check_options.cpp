#include "engine/onnx/import/check_options.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "engine/names/known_names.hpp"
#include "engine/names/name_pattern.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string text_of(const OnnxValueInfo& input) {
  std::string text = to_string(input.type);
  if (!input.shape) return text;
  text += '[';
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const OnnxDim& dim = (*input.shape)[i];
    text += (i > 0 ? "," : "") + (dim.size ? std::to_string(*dim.size) : printable(dim.name));
  }
  return text + ']';
}

/// Returns whether a tensor is one for the input. `sizes` has the sizes of names so far.
bool fits(const Tensor& tensor, const OnnxValueInfo& input,
          std::map<std::string, std::int64_t>& sizes) {
  if (tensor.dtype() != dtype_of_onnx(input.type)) return false;
  if (!input.shape) return true;
  if (tensor.shape().rank() != input.shape->size()) return false;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const OnnxDim& dim = (*input.shape)[i];
    const std::int64_t size = tensor.shape().begin()[i];
    if (dim.size && *dim.size != size) return false;
    if (!dim.size && !dim.name.empty() && sizes.emplace(dim.name, size).first->second != size)
      return false;
  }
  return true;
}

void check_input(const GraphPlan& plan, const NamedTensor& given,
                 std::map<std::string, std::int64_t>& sizes) {
  const auto input = std::ranges::find(plan.inputs, given.name, &OnnxValueInfo::name);
  if (input == plan.inputs.end())
    throw Error(Errc::invalid_argument,
                "there is no input " + quoted_text(given.name) +
                    instead_of(given.name, plan.inputs, &OnnxValueInfo::name));
  if (input->type != OnnxType::undefined && !fits(given.tensor, *input, sizes))
    throw Error(Errc::shape_mismatch,
                "input " + quoted_text(given.name) + ": expected " + text_of(*input) + ", got " +
                    std::string(to_string(given.tensor.dtype())) + to_string(given.tensor.shape()));
}

bool has_dimension(const GraphPlan& plan, const std::string& name) {
  return std::ranges::any_of(plan.inputs, [&](const OnnxValueInfo& input) {
    return input.shape &&
           std::ranges::find(*input.shape, name, &OnnxDim::name) != input.shape->end();
  });
}

}  // namespace

void check_options(const GraphPlan& plan, const OnnxOptions& options) {
  std::map<std::string, std::int64_t> sizes = options.dimensions;
  for (const auto& [name, size] : options.dimensions)
    if (!has_dimension(plan, name) || size < 1)
      throw Error(
          Errc::invalid_argument,
          "OnnxOptions::dimensions: expected names of dimensions of inputs, with sizes of 1 or "
          "more, got " +
              quoted_text(name) + " of " + std::to_string(size));
  for (const NamedTensor& given : options.inputs) check_input(plan, given, sizes);
  for (const std::string& pattern : options.parameters) {
    const auto matches_it = [&](const ReadInitializer& initializer) {
      return matches(pattern, initializer.name);
    };
    if (pattern != "*" && std::ranges::none_of(plan.initializers, matches_it))
      throw Error(
          Errc::invalid_argument,
          "OnnxOptions::parameters: no initializer that is read matches " + quoted_text(pattern));
  }
}

}  // namespace penstock
