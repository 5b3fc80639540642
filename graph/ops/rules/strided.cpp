#include "graph/ops/rules/strided.hpp"

#include <algorithm>

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

/// Returns the size of dimension `axis`, where 0 is the last one, or 1 if there is no such
/// dimension.
std::int64_t from_end(const Shape& shape, std::size_t axis) {
  return axis < shape.rank() ? shape.begin()[shape.rank() - 1 - axis] : 1;
}

}  // namespace

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (std::size_t axis = 0; axis < from.rank(); ++axis)
    if (from_end(from, axis) != 1 && from_end(from, axis) != from_end(to, axis)) return false;
  return true;
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  std::vector<std::int64_t> dims(std::max(a.rank(), b.rank()));
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto of_a = from_end(a, axis), of_b = from_end(b, axis);
    dims[dims.size() - 1 - axis] = of_a == 1 ? of_b : of_a;
  }
  const Shape common(dims);
  if (!broadcasts_to(a, common) || !broadcasts_to(b, common)) return std::nullopt;
  return common;
}

std::string broadcast_refusal(std::string_view expected, std::string_view last_axis, const Shape& a,
                              const Shape& b) {
  return "expected " + std::string(expected) + ", got " + to_string(a) + " and " + to_string(b) +
         "; counted from " + std::string(last_axis) +
         ", sizes have to be equal or 1, and unsqueeze() adds an axis of 1";
}

std::vector<TensorType> infer_broadcast(const Attributes&, Types in) {
  expect_inputs(in, 2, "a, b");
  expect_dtype(in[0], DType::f32, "a");
  expect_dtype(in[1], DType::f32, "b");
  const Shape &a = in[0].shape, &b = in[1].shape;
  const std::optional<Shape> common = broadcast_shape(a, b);
  expect(common.has_value(), broadcast_refusal("shapes that broadcast", "the last axis", a, b));
  return {{DType::f32, *common}};
}

Strides dense_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape.begin()[axis];
  }
  return strides;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides dense = dense_strides(from);
  const std::size_t missing = to.rank() - from.rank();
  Strides strides{};
  for (std::size_t axis = 0; axis < from.rank(); ++axis)
    if (from.begin()[axis] != 1) strides[missing + axis] = dense[axis];
  return strides;
}

}  // namespace penstock::graph
