#include "engine/onnx/shapes/checked_dims.hpp"

#include "engine/onnx/shapes/corrupt.hpp"

namespace penstock {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  if (a > 0 && b > largest_dimension / a)
    corrupt("the product of the sizes " + std::to_string(a) + " and " + std::to_string(b) +
            " is more than 2^48");
  return a * b;
}

Shape checked_shape(const Dims& dims) {
  if (dims.size() > Shape::max_rank)
    corrupt("shape: expected at most " + std::to_string(Shape::max_rank) + " dimensions, got " +
            std::to_string(dims.size()));
  std::int64_t product = 1;
  for (const std::int64_t size : dims) {
    if (size < 0) corrupt("shape: a dimension is negative: " + std::to_string(size));
    if (size > largest_dimension / product)
      corrupt("the sizes of a shape multiply to more than 2^48: " + text_of(dims));
    if (size > 0) product *= size;
  }
  return Shape(dims);
}

std::string text_of(const Dims& dims) {
  std::string text;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis == Shape::max_rank) {
      text += ",...";
      break;
    }
    text += (axis > 0 ? "," : "") + std::to_string(dims[axis]);
  }
  return "[" + text + "]";
}

}  // namespace penstock
