// This is the loop that every function of single elements runs in, and its arithmetic. It is for
// kernels that the build compiles once per instruction set without contraction: such a loop becomes
// vectors of any size, and the bits of an element do not depend on where the element stands.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(i)` for i from 0 to count-1, several at a time: what it writes for one i it must not
/// read for another.
template <class Work>
[[gnu::always_inline]] inline void for_each_element(std::int64_t count, Work work) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

/// Returns a·b + c, rounded once where that is one instruction.
[[gnu::always_inline]] inline float multiply_add(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace penstock::graph::PENSTOCK_ISA
