// Kernels that compute each element by itself loop with for_each_element(). The compiler makes
// vectors of any size of such a loop, but never fuses a product with a sum unless multiply_add()
// asks for it, so that the bits of an element do not depend on where the element stands. The header
// is for kernels that the build compiles once per instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(i)` for each `i` from 0 to `count` - 1, several at a time. `work` must not read for
/// one `i` what it writes for another.
template <class Work>
[[gnu::always_inline]] inline void for_each_element(std::int64_t count, Work work) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

/// Returns a·b + c. If the instruction set can multiply and add in one instruction, only the result
/// is rounded; otherwise the product is rounded, too.
[[gnu::always_inline]] inline float multiply_add(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace penstock::graph::PENSTOCK_ISA
