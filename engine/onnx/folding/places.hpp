// Places are positions in a tensor of row-major elements. Operators that move elements say for each
// element of the result from where it comes. The functions are pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Returns the dimensions of a shape.
Dims dims_of(const Shape& shape);
/// Returns how many places apart neighbours along each axis are, or any numbers if there are no
/// elements.
Dims strides_of(const Dims& dims);

/// Calls `visit` with the index along each axis, for every place in order. `index` has a 0 for each
/// axis, and so it has in the end.
template <class Visit>
void for_each_index(const Dims& dims, Dims& index, const Visit& visit) {
  for (const std::int64_t size : dims)
    if (size == 0) return;
  for (;;) {
    visit(index);
    std::size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Calls `visit` with the index along each axis, for every place in order.
template <class Visit>
void for_each_index(const Dims& dims, const Visit& visit) {
  Dims index(dims.size(), 0);
  for_each_index(dims, index, visit);
}

/// A BroadcastPlace finds the place from which a tensor of the dimensions `dims` takes the element
/// at an index, in a tensor of the dimensions `from` that broadcasts to it as in NumPy.
class BroadcastPlace {
 public:
  /// @throws Error corrupt_file if `from` does not broadcast to `dims`.
  BroadcastPlace(const Dims& from, const Dims& dims);
  std::size_t operator()(const Dims& index) const {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) place += strides_[axis] * index[axis];
    return static_cast<std::size_t>(place);
  }

 private:
  Dims strides_;  ///< The stride is 0 along an axis on which the element is the same.
};

/// Returns the dimensions to which both broadcast. @throws Error corrupt_file if they do not, or if
/// one is negative.
Dims broadcast_dims(const Dims& a, const Dims& b);

/// Returns a tensor of `shape` and `dtype`. The bytes of its element at each index are those at
/// `source(index)`.
template <class Source>
Tensor gathered(DType dtype, const Shape& shape, const Source& source) {
  const std::size_t size = size_of(dtype), count = static_cast<std::size_t>(shape.elements());
  const std::shared_ptr<std::byte[]> elements(
      new std::byte[std::max<std::size_t>(1, size * count)]);
  std::byte* to = elements.get();
  for_each_index(dims_of(shape), [&](const Dims& index) {
    std::memcpy(to, source(index), size);
    to += size;
  });
  return Tensor::wrap(dtype, shape, {elements, elements.get()});
}

/// Returns a tensor of the shape `shape` with those elements of `from` that are at `places`.
Tensor moved(const Tensor& from, const Shape& shape, const std::vector<std::int64_t>& places);

}  // namespace penstock
