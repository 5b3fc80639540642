#include "engine/onnx/shapes/checked_dims.hpp"

#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"

namespace penstock {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  if (a > 0 && b > largest_dimension / a)
    corrupt("a shape has a dimension, or elements, of more than 2^48: " + std::to_string(a) +
            " x " + std::to_string(b));
  return a * b;
}

Shape checked_shape(const Dims& dims) {
  std::int64_t product = 1;
  for (const std::int64_t size : dims) {
    if (size < 0) corrupt("shape: a dimension is negative: " + std::to_string(size));
    if (size > 0) product = checked_product(product, size);
  }
  if (dims.size() > Shape::max_rank)
    corrupt("shape: expected at most " + std::to_string(Shape::max_rank) + " dimensions, got " +
            std::to_string(dims.size()));
  return Shape(dims);
}

std::string text_of(const Dims& dims) {
  return "[" +
         joined(
             dims, [](std::int64_t size) { return std::to_string(size); }, ",") +
         "]";
}

}  // namespace penstock
