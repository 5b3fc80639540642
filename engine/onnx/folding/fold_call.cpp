#include "engine/onnx/folding/fold_call.hpp"

#include <algorithm>
#include <span>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/fold_rules.hpp"
#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

template <class Number>
std::vector<Number> all_as(const Tensor& tensor) {
  const ElementReader<Number> elements(tensor);
  std::vector<Number> numbers(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t place = 0; place < numbers.size(); ++place) numbers[place] = elements[place];
  return numbers;
}

const FoldRule* find_rule(std::string_view op_type) {
  for (const auto rules : {movement_rules(), arithmetic_rules(), generation_rules()}) {
    const auto rule = std::ranges::find(rules, op_type, &FoldRule::op_type);
    if (rule != rules.end()) return &*rule;
  }
  return nullptr;
}

}  // namespace

const Tensor& FoldCall::input(std::size_t i) const {
  if (!has(i)) corrupt("expected an input number " + std::to_string(i) + ", got none");
  return inputs[i];
}

std::vector<std::int64_t> FoldCall::integers(std::string_view name, std::size_t i) const {
  if (node.find(name)) return node.integers(name);
  return has(i) ? integers_of(inputs[i]) : std::vector<std::int64_t>{};
}

std::vector<Tensor> fold(const FoldCall& call) {
  const FoldRule* const rule = find_rule(call.node.op_type);
  return rule ? rule->fold(call) : std::vector<Tensor>{};
}

bool is_folded(std::string_view op_type) {
  return find_rule(op_type) != nullptr;
}

std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::f32) corrupt("expected integers, got a tensor of f32");
  return all_as<std::int64_t>(tensor);
}

std::vector<double> numbers_of(const Tensor& tensor) {
  return all_as<double>(tensor);
}

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<double>& numbers) {
  auto number = numbers.begin();
  return filled(dtype, shape, [&](const Dims&) { return *number++; });
}

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<std::int64_t>& integers) {
  auto integer = integers.begin();
  return filled(dtype, shape, [&](const Dims&) { return *integer++; });
}

Shape folded_shape(const std::vector<std::int64_t>& dims) {
  const Shape shape = checked_shape(dims);
  if (shape.elements() > most_folded)
    throw Error(Errc::unsupported, "a result " + to_string(shape) +
                                       " that is known at import has more than " +
                                       std::to_string(most_folded) + " elements");
  return shape;
}

}  // namespace penstock
