// same_bits() is the strongest comparison of tensors.
#pragma once

#include <cstring>

#include "penstock/tensor.hpp"

namespace penstock::testing {

/// Returns whether `a` and `b` have the same element type, the same shape and the same bytes.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace penstock::testing
