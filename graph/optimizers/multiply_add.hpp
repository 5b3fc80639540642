// Multiply and add as PyTorch's vectorised loops do it.
#pragma once

#include <cmath>

namespace penstock::graph {

/// a·b + c, rounded once where the target does that in one instruction.
inline float multiply_add(float a, float b, float c) noexcept {
#ifdef __FP_FAST_FMAF
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace penstock::graph
