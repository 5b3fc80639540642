// join_rows: tensors one after the other along dimension 0.
#pragma once

#include <span>

#include "penstock/tensor.hpp"

namespace penstock {

/// A new tensor, or the one that is given alone. Scalars count as one row each. `parts` is not
/// empty.
/// @throws Error shape_mismatch unless all are of one dtype and of the same shape but for
/// dimension 0.
Tensor join_rows(std::span<const Tensor> parts);

}  // namespace penstock
