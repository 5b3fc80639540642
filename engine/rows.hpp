// These functions cut rows out of tensors, along dimension 0, and put rows one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock {

/// Returns rows `begin` to `end` - 1 of each of `tensors`.
std::vector<Tensor> rows_of(std::span<const Tensor> tensors, std::int64_t begin, std::int64_t end);

/// Returns the rows of `parts`, which is not empty, one after the other: in a new tensor or, if
/// there is only one part, in `parts[0]` itself. Scalars count as one row each.
/// @throws Error shape_mismatch unless all parts have the same dtype and, except for dimension 0,
/// the same shape.
Tensor join_rows(std::span<const Tensor> parts);

}  // namespace penstock
