// The rules of operators that make tensors.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/onnx/folding/fold_rules.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::vector<Tensor> constant_of_shape(const FoldCall& call) {
  const Shape shape = folded_shape(integers_of(call.input(0)));
  Tensor value = Tensor::zeros(DType::f32, {});
  if (const OnnxAttribute* const attribute = call.node.find("value");
      attribute && attribute->tensor)
    value = call.reader.read(*attribute->tensor);
  if (value.elements() != 1) corrupt("expected a value of one element");
  return {gathered(value.dtype(), shape, [&](const Dims&) { return value.raw(); })};
}

std::vector<Tensor> range(const FoldCall& call) {
  const Tensor &start = call.input(0), &limit = call.input(1), &delta = call.input(2);
  for (const Tensor* bound : {&start, &limit, &delta})
    if (bound->elements() != 1 || bound->dtype() != start.dtype())
      corrupt("expected three numbers of one type");
  const double first = numbers_of(start)[0], step = numbers_of(delta)[0];
  if (step == 0) corrupt("expected a step other than 0");
  const double count = std::ceil((numbers_of(limit)[0] - first) / step);
  if (!(count <= static_cast<double>(most_folded))) folded_shape({most_folded + 1});
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(std::max(count, 0.0)));
  for (double i = 0; i < count; ++i) numbers.push_back(first + i * step);
  return {tensor_of(start.dtype(), Shape({static_cast<std::int64_t>(numbers.size())}), numbers)};
}

/// Returns the indices of the elements that are not 0, one column for each of them.
std::vector<Tensor> non_zero(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<double> numbers = numbers_of(x);
  const Dims dims = dims_of(x.shape());
  const Dims strides = strides_of(dims);
  std::vector<std::int64_t> found;
  for (std::size_t place = 0; place < numbers.size(); ++place)
    if (numbers[place] != 0) found.push_back(static_cast<std::int64_t>(place));
  std::vector<std::int64_t> indices;
  indices.reserve(dims.size() * found.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    for (const std::int64_t place : found) indices.push_back(place / strides[axis] % dims[axis]);
  const Shape shape(
      {static_cast<std::int64_t>(dims.size()), static_cast<std::int64_t>(found.size())});
  return {tensor_of(DType::i64, shape, indices)};
}

std::vector<Tensor> constant(const FoldCall& call) {
  const OnnxNode& node = call.node;
  if (const OnnxAttribute* const value = node.find("value"); value && value->tensor)
    return {call.reader.read(*value->tensor)};
  if (const OnnxAttribute* const value = node.find("value_float"); value && value->real)
    return {Tensor({}, {*value->real})};
  if (const OnnxAttribute* const value = node.find("value_int"); value && value->integer)
    return {tensor_of(DType::i64, {}, std::vector<std::int64_t>{*value->integer})};
  if (const OnnxAttribute* const value = node.find("value_floats"))
    return {Tensor(Shape({static_cast<std::int64_t>(value->reals.size())}),
                   std::span<const float>(value->reals))};
  if (const OnnxAttribute* const value = node.find("value_ints"))
    return {tensor_of(DType::i64, Shape({static_cast<std::int64_t>(value->integers.size())}),
                      value->integers)};
  return {};
}

}  // namespace

std::span<const FoldRule> generation_rules() {
  static constexpr std::array<FoldRule, 4> rules{{{"Constant", constant},
                                                  {"ConstantOfShape", constant_of_shape},
                                                  {"NonZero", non_zero},
                                                  {"Range", range}}};
  return rules;
}

}  // namespace penstock
