// The rules of operators that make tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/fold_rules.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/number_range.hpp"
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
  if (std::isnan(count)) corrupt("expected numbers between which there are steps, got NaN");
  if (count > static_cast<double>(most_folded))
    throw Error(Errc::unsupported, "a result of " + number_text(count) +
                                       " elements that is known at import has more than " +
                                       std::to_string(most_folded) + " elements");
  const Shape shape({static_cast<std::int64_t>(std::max(count, 0.0))});
  return {filled(start.dtype(), shape,
                 [&](const Dims& index) { return first + static_cast<double>(index[0]) * step; })};
}

/// Returns the indices of the elements that are not 0, one column for each of them.
std::vector<Tensor> non_zero(const FoldCall& call) {
  const Tensor& x = call.input(0);
  const ElementReader<double> numbers(x);
  const Dims dims = dims_of(x.shape());
  std::int64_t count = 0;
  for (std::size_t place = 0; place < static_cast<std::size_t>(x.elements()); ++place)
    if (numbers[place] != 0) ++count;
  const Shape shape = folded_shape({static_cast<std::int64_t>(dims.size()), count});
  const std::shared_ptr<std::int64_t[]> indices(
      new std::int64_t[static_cast<std::size_t>(std::max<std::int64_t>(1, shape.elements()))]);
  std::size_t place = 0;
  std::int64_t column = 0;
  for_each_index(dims, [&](const Dims& index) {
    if (numbers[place++] == 0) return;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      indices[static_cast<std::ptrdiff_t>(axis) * count + column] = index[axis];
    ++column;
  });
  return {Tensor::wrap(DType::i64, shape,
                       {indices, reinterpret_cast<const std::byte*>(indices.get())})};
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
