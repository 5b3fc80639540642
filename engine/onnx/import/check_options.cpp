#include "engine/onnx/import/check_options.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "engine/files/element_type.hpp"
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
    text += (i > 0 ? "," : "") + (dim.size           ? std::to_string(*dim.size)
                                  : dim.name.empty() ? "?"
                                                     : printable(dim.name));
  }
  return text + ']';
}

/// Returns whether a tensor is one for the input. `sizes` has the sizes of names so far. The sizes
/// of those axes need not be the file's of which `is_free` says so. The name of axis 0 says nothing
/// if it is a guess.
template <class IsFree>
bool fits(const Tensor& tensor, const OnnxValueInfo& input,
          std::map<std::string, std::int64_t>& sizes, const IsFree& is_free, bool is_guess) {
  if (tensor.dtype() != dtype_of_onnx(input.type)) return false;
  if (!input.shape) return true;
  if (tensor.shape().rank() != input.shape->size()) return false;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const OnnxDim& dim = (*input.shape)[i];
    const std::int64_t size = tensor.shape().begin()[i];
    if (dim.size && *dim.size != size && !is_free(i)) return false;
    if (dim.size || dim.name.empty() || (i == 0 && is_guess)) continue;
    if (sizes.emplace(dim.name, size).first->second != size) return false;
  }
  return true;
}

[[noreturn]] void refuse_tensor(const OnnxValueInfo& input, const Tensor& tensor,
                                const std::string& advice = "") {
  throw Error(Errc::shape_mismatch,
              "input " + quoted_text(input.name) + ": expected " + text_of(input) + ", got " +
                  std::string(to_string(tensor.dtype())) + to_string(tensor.shape()) + advice);
}

/// Checks that each byte of a tensor of bools is 0 or 1, because nodes are folded by its bytes.
void check_bools(const std::string& input, const Tensor& tensor) {
  if (tensor.dtype() != DType::boolean) return;
  if (const auto text = untruth_text({tensor.raw(), tensor.bytes()}))
    throw Error(Errc::invalid_data, "input " + quoted_text(input) + ": " + *text);
}

void check_input(const GraphPlan& plan, const NamedTensor& named,
                 std::map<std::string, std::int64_t>& sizes, bool is_run) {
  const auto input = std::ranges::find(plan.inputs, named.name, &OnnxValueInfo::name);
  if (input == plan.inputs.end())
    throw Error(Errc::invalid_argument,
                "there is no input " + quoted_text(named.name) +
                    instead_of(named.name, plan.inputs, &OnnxValueInfo::name));
  const auto may_count_samples = [&](std::size_t axis) { return is_run && axis < 2; };
  const bool is_guess = is_run && plan.guessed_batches.contains(named.name);
  if (input->type != OnnxType::undefined &&
      !fits(named.tensor, *input, sizes, may_count_samples, is_guess))
    refuse_tensor(*input, named.tensor);
  check_bools(named.name, named.tensor);
}

bool has_dimension(const GraphPlan& plan, const std::string& name) {
  return std::ranges::any_of(plan.inputs, [&](const OnnxValueInfo& input) {
    return input.shape &&
           std::ranges::find(*input.shape, name, &OnnxDim::name) != input.shape->end();
  });
}

/// Checks that each pattern matches the name of an initializer. `field` has the patterns.
void check_patterns(const GraphPlan& plan, const std::vector<std::string>& patterns,
                    const std::string& field) {
  for (const std::string& pattern : patterns) {
    const auto matches_it = [&](const ReadInitializer& initializer) {
      return matches(pattern, initializer.name);
    };
    if (pattern != "*" && std::ranges::none_of(plan.initializers, matches_it))
      throw Error(Errc::invalid_argument,
                  "OnnxOptions::" + field + ": no initializer that is read matches " +
                      quoted_text(pattern) +
                      instead_of(pattern, plan.initializers, &ReadInitializer::name));
  }
}

}  // namespace

void check_options(const GraphPlan& plan, const OnnxOptions& options, bool is_run) {
  std::map<std::string, std::int64_t> sizes = options.dimensions;
  for (const auto& [name, size] : options.dimensions)
    if (!has_dimension(plan, name) || size < 1)
      throw Error(
          Errc::invalid_argument,
          "OnnxOptions::dimensions: expected names of dimensions of inputs, with sizes of 1 or "
          "more, got " +
              quoted_text(name) + " of " + std::to_string(size));
  for (const NamedTensor& named : options.inputs) check_input(plan, named, sizes, is_run);
  check_patterns(plan, options.parameters, "parameters");
  check_patterns(plan, options.constants, "constants");
}

void check_run_input(const OnnxValueInfo& input, const Tensor& tensor,
                     std::optional<std::size_t> samples) {
  std::map<std::string, std::int64_t> sizes;
  const auto counts_samples = [&](std::size_t axis) { return axis == samples; };
  if (input.type != OnnxType::undefined && !fits(tensor, input, sizes, counts_samples, false))
    refuse_tensor(
        input, tensor,
        samples ? "" : "; another number of samples needs operators that keep samples apart");
}

}  // namespace penstock
