// Places are positions in a tensor of row-major elements. Operators that move elements are written
// as lists of the places that elements come from. The functions are pure.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Returns the dimensions of a shape.
Dims dims_of(const Shape& shape);
/// Returns how many places apart neighbours along each axis are.
Dims strides_of(const Dims& dims);

/// Calls `visit` with the index along each axis, for every place in order.
template <class Visit>
void for_each_index(const Dims& dims, const Visit& visit) {
  Dims index(dims.size(), 0);
  for (const std::int64_t size : dims)
    if (size == 0) return;
  for (;;) {
    visit(index);
    std::size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Returns, for each place of a tensor of the dimensions `dims`, the place from which it takes its
/// element in a tensor of the dimensions `from` that broadcasts to it as in NumPy.
/// @throws Error corrupt_file if it does not.
std::vector<std::int64_t> broadcast_places(const Dims& from, const Dims& dims);
/// Returns the dimensions to which both broadcast. @throws Error corrupt_file if they do not.
Dims broadcast_dims(const Dims& a, const Dims& b);

/// Returns a tensor of the shape `shape` with those elements of `from` that are at `places`.
Tensor moved(const Tensor& from, const Shape& shape, const std::vector<std::int64_t>& places);

}  // namespace penstock
