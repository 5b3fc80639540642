#include "penstock/shape.hpp"

#include <algorithm>

#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

void check(std::span<const std::int64_t> dims) {
  if (dims.size() > Shape::max_rank)
    throw Error(Errc::shape_mismatch,
                "shape: expected at most 8 dimensions, got " + std::to_string(dims.size()));
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      throw Error(Errc::shape_mismatch, "shape: a dimension is negative: " + std::to_string(dim));
    if (__builtin_mul_overflow(elements, dim, &elements) || elements > (std::int64_t{1} << 48))
      throw Error(Errc::shape_mismatch, "shape: more elements than any machine holds");
  }
}

}  // namespace

std::string_view to_string(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::u8:
      return "u8";
    case DType::i32:
      return "i32";
    case DType::boolean:
      return "bool";
    case DType::i64:
      break;
  }
  return "i64";
}

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  or_out_of_memory("a shape", [&] { check(dims); });
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

std::int64_t Shape::elements() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t dim : *this) product *= dim;
  return product;
}

Shape Shape::with(std::ptrdiff_t axis, std::int64_t size) const {
  Shape copy = *this;
  copy.dims_[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::ptrdiff_t>(rank_)
                                               : axis)] = size;
  return copy;
}

bool Shape::operator==(const Shape& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Shape& shape) {
  return or_out_of_memory("the text of a shape", [&] {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.rank(); ++i)
      text += (i ? "," : "") + std::to_string(shape.begin()[i]);
    return text + "]";
  });
}

}  // namespace penstock
