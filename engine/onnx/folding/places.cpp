#include "engine/onnx/folding/places.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "penstock/error.hpp"

namespace penstock {

Dims dims_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

std::vector<std::int64_t> broadcast_places(const Dims& from, const Dims& dims) {
  if (broadcast_dims(from, dims) != dims)
    throw Error(Errc::corrupt_file, "expected a tensor that broadcasts to " +
                                        to_string(Shape(dims)) + ", got " + to_string(Shape(from)));
  const std::size_t missing = dims.size() - from.size();
  Dims strides = strides_of(from);
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] == 1) strides[axis] = 0;
  std::vector<std::int64_t> places;
  for_each_index(dims, [&](const Dims& index) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      place += strides[axis] * index[axis + missing];
    places.push_back(place);
  });
  return places;
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims dims = longer;
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& size = dims[axis + missing];
    if (size == 1) size = shorter[axis];
    if (shorter[axis] != 1 && shorter[axis] != size)
      throw Error(Errc::corrupt_file, "expected shapes that broadcast to each other, got " +
                                          to_string(Shape(a)) + " and " + to_string(Shape(b)));
  }
  return dims;
}

Tensor moved(const Tensor& from, const Shape& shape, const std::vector<std::int64_t>& places) {
  const std::size_t size = size_of(from.dtype());
  const std::shared_ptr<std::byte[]> elements(
      new std::byte[std::max<std::size_t>(1, size * places.size())]);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(elements.get() + i * size, from.raw() + static_cast<std::size_t>(places[i]) * size,
                size);
  return Tensor::wrap(from.dtype(), shape, {elements, elements.get()});
}

}  // namespace penstock
