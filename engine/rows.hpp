// These functions cut out rows of tensors, which are their parts along dimension 0, and put them
// one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock {

/// Returns rows `begin` to `end` of each of `tensors`.
std::vector<Tensor> rows_of(std::span<const Tensor> tensors, std::int64_t begin, std::int64_t end);

/// A new tensor, or the one that is given alone. Scalars count as one row each. `parts` is not
/// empty.
/// @throws Error shape_mismatch unless all are of one dtype and of the same shape but for
/// dimension 0.
Tensor join_rows(std::span<const Tensor> parts);

}  // namespace penstock
