// These pure functions say from which elements of an axis ONNX's Resize computes those of the
// result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock {

/// A ResizedAxis has `before` elements, of which `after` are made; `scale` is how many times as
/// many.
struct ResizedAxis {
  std::int64_t before, after;
  double scale;
};

/// A Resizing has the attributes of Resize, by their names in ONNX.
struct Resizing {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;

  /// Returns whether all attributes are some that these functions know.
  bool is_known() const;
};

/// Returns the element of x that each element of the result is.
std::vector<std::int64_t> nearest_indices(const ResizedAxis& axis, const Resizing& resizing);
/// Returns the weights [before,after] by which each element of the result is a sum of those of x.
Tensor blend_matrix(const ResizedAxis& axis, const Resizing& resizing);

}  // namespace penstock
