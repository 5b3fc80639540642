#include "engine/onnx/folding/places.hpp"

#include <algorithm>

#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"

namespace penstock {

Dims dims_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  if (std::ranges::find(dims, 0) != dims.end()) return strides;
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

BroadcastPlace::BroadcastPlace(const Dims& from, const Dims& dims) : strides_(dims.size(), 0) {
  if (broadcast_dims(from, dims) != dims)
    corrupt("expected a tensor that broadcasts to " + text_of(dims) + ", got " + text_of(from));
  const std::size_t missing = dims.size() - from.size();
  const Dims strides = strides_of(from);
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] != 1) strides_[axis + missing] = strides[axis];
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  for (const Dims* dims : {&a, &b})
    if (std::ranges::any_of(*dims, [](std::int64_t size) { return size < 0; }))
      corrupt("expected dimensions of 0 or more, got " + text_of(*dims));
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims dims = longer;
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& size = dims[axis + missing];
    if (size == 1) size = shorter[axis];
    if (shorter[axis] != 1 && shorter[axis] != size)
      corrupt("expected shapes that broadcast to each other, got " + text_of(a) + " and " +
              text_of(b));
  }
  return dims;
}

Tensor moved(const Tensor& from, const Shape& shape, const std::vector<std::int64_t>& places) {
  const std::size_t size = size_of(from.dtype());
  auto place = places.begin();
  return gathered(from.dtype(), shape, [&](const Dims&) {
    return from.raw() + static_cast<std::size_t>(*place++) * size;
  });
}

}  // namespace penstock
