#include "tests/support/random_tensor.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/ir/random.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/memory.hpp"

namespace penstock::testing {
namespace {

std::uint32_t draw(std::uint64_t seed, std::size_t index) {
  return graph::philox({.seed = seed}, index / 4)[index % 4];
}

/// Returns the numbers 0 to count-1 in a random order, by the method of Fisher and Yates.
std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draw(seed, i) % i]);
  return order;
}

}  // namespace

Tensor uniform(const Shape& shape, std::uint64_t seed, double low, double high) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(low + (high - low) * graph::to_unit(draw(seed, i)));
  return {shape, std::span<const float>(values)};
}

Tensor spread(const Shape& shape, std::uint64_t seed, double low, double high) {
  const auto count = static_cast<std::size_t>(shape.elements());
  std::vector<float> values;
  values.reserve(count);
  for (const std::size_t rank : permutation(count, seed))
    values.push_back(static_cast<float>(low + (high - low) * (static_cast<double>(rank) + 0.25) /
                                                  static_cast<double>(count)));
  return {shape, std::span<const float>(values)};
}

Tensor labels(const Shape& shape, std::uint64_t seed, std::int64_t limit, DType dtype) {
  const auto count = static_cast<std::size_t>(shape.elements());
  const auto block = allocate_block(count * size_of(dtype));
  with_element_type(dtype, [&]<class T>() {
    T* const values = reinterpret_cast<T*>(block.get());
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(draw(seed, i) % limit);
  });
  return Tensor::wrap(dtype, shape, block);
}

Tensor with(const Tensor& tensor, const std::vector<float>& values) {
  std::vector<float> elements(tensor.as<float>().begin(), tensor.as<float>().end());
  for (std::size_t i = 0; i < values.size(); ++i)
    elements[(2 * i + 1) * elements.size() / (2 * values.size())] = values[i];
  return {tensor.shape(), std::span<const float>(elements)};
}

Tensor signs_of(const Tensor& tensor) {
  std::vector<float> values;
  for (const float value : tensor.as<float>()) values.push_back(value < 0 ? -1.0f : 1.0f);
  return {tensor.shape(), std::span<const float>(values)};
}

bool is_constant(const graph::Op& op, const graph::OpSample& sample, std::size_t input) {
  return std::ranges::count(sample.constants, input) > 0 ||
         std::ranges::count(op.constant_inputs, input) > 0;
}

std::vector<Tensor> draw_inputs(const graph::Op& op, const graph::OpSample& sample,
                                std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const graph::TensorType& type : sample.inputs)
    inputs.push_back(type.dtype == DType::f32
                         ? spread(type.shape, ++seed, sample.low, sample.high)
                         : labels(type.shape, ++seed, sample.labels, type.dtype));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (sample.low < 0 && is_constant(op, sample, i) && inputs[i].dtype() == DType::f32)
      inputs[i] = signs_of(inputs[i]);
  return inputs;
}

}  // namespace penstock::testing
