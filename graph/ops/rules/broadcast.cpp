#include "graph/ops/rules/broadcast.hpp"

#include <algorithm>

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

/// Returns the dimension `axis`, counted from the last, or 1 if there is none.
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

std::vector<TensorType> infer_broadcast(const Attributes&, Types in) {
  expect_inputs(in, 2, "a, b");
  expect_dtype(in[0], DType::f32, "a");
  expect_dtype(in[1], DType::f32, "b");
  const Shape &a = in[0].shape, &b = in[1].shape;
  std::vector<std::int64_t> dims(std::max(a.rank(), b.rank()));
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto of_a = from_end(a, axis), of_b = from_end(b, axis);
    dims[dims.size() - 1 - axis] = of_a == 1 ? of_b : of_a;
  }
  const Shape common(dims);
  expect(broadcasts_to(a, common) && broadcasts_to(b, common),
         "expected shapes that broadcast, got " + to_string(a) + " and " + to_string(b));
  return {{DType::f32, common}};
}

}  // namespace penstock::graph
