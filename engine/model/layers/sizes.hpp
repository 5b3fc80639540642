// Layers give sizes along two axes to ops as attributes.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "penstock/layer_options.hpp"

namespace penstock {

/// Returns the numbers of `size` in the form of an attribute of a 2-d op: one number if both are
/// the same, else a list.
inline graph::AttributeValue pair(Size2d size) {
  if (size.rows == size.columns) return size.rows;
  return std::vector<std::int64_t>{size.rows, size.columns};
}

}  // namespace penstock
