#include "graph/expect.hpp"

#include <string>

#include "penstock/error.hpp"

namespace penstock::graph {

void expect(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::shape_mismatch, text);
}

void expect_inputs(Types inputs, std::size_t count, std::string_view names) {
  if (inputs.size() == count) return;
  expect(false, "expected " + std::to_string(count) + (count == 1 ? " input (" : " inputs (") +
                    std::string(names) + "), got " + std::to_string(inputs.size()));
}

void expect_dtype(const TensorType& type, DType dtype, std::string_view name) {
  if (type.dtype == dtype) return;
  expect(false, "expected " + std::string(name) + " of type " + std::string(to_string(dtype)) +
                    ", got " + to_string(type));
}

void expect_rank(const TensorType& type, std::size_t rank, std::string_view name) {
  if (type.shape.rank() == rank) return;
  expect(false, "expected " + std::string(name) + " of rank " + std::to_string(rank) + ", got " +
                    to_string(type));
}

void expect_shape(const TensorType& type, const Shape& shape, std::string_view name) {
  if (type.shape == shape) return;
  expect(false, "expected " + std::string(name) + " of shape " + to_string(shape) + ", got " +
                    to_string(type.shape));
}

}  // namespace penstock::graph
