// Vector: as many floats as one register of the instruction set holds that a source is compiled
// for. For kernels that the build compiles once per instruction set, each time into the namespace
// PENSTOCK_ISA and with PENSTOCK_VECTOR_BYTES; nothing here is shared between instruction sets.
#pragma once

#include <cstdint>
#include <utility>

namespace penstock::graph::PENSTOCK_ISA {

using Vector = float __attribute__((vector_size(PENSTOCK_VECTOR_BYTES)));
/// What comparing Vectors gives: -1 where true, 0 where false.
using Mask = std::int32_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES)));
/// A byte for each element of a Vector.
using Bytes = std::uint8_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES / 4)));

inline constexpr int vector_size = PENSTOCK_VECTOR_BYTES / 4;
/// Whether there are 32 registers to keep sums in, or 16.
inline constexpr bool many_registers = PENSTOCK_VECTOR_BYTES == 64;

[[gnu::always_inline]] inline Vector load(const float* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

[[gnu::always_inline]] inline void store(float* p, Vector v) {
  __builtin_memcpy(p, &v, sizeof v);
}

[[gnu::always_inline]] inline Vector broadcast(float value) {
  return value - Vector{};
}

/// Calls `work` with each of 0 to n-1 as a constant, so that arrays of Vectors stay in registers.
template <int... i, class Work>
[[gnu::always_inline]] inline void unrolled(std::integer_sequence<int, i...>, Work work) {
  (work(std::integral_constant<int, i>()), ...);
}
template <int n, class Work>
[[gnu::always_inline]] inline void unrolled(Work work) {
  unrolled(std::make_integer_sequence<int, n>(), work);
}

/// Element i is a[at[i]], or b[at[i] - vector_size] from there on.
template <int... at>
[[gnu::always_inline]] inline Vector shuffle(Vector a, Vector b,
                                             std::integer_sequence<int, at...>) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, at...);
#else
  return __builtin_shuffle(a, b, Mask{at...});
#endif
}

template <int distance, int... i>
constexpr auto low_halves(std::integer_sequence<int, i...>) {
  return std::integer_sequence<int, (i & distance ? vector_size + i - distance : i)...>();
}
template <int distance, int... i>
constexpr auto high_halves(std::integer_sequence<int, i...>) {
  return std::integer_sequence<int, (i & distance ? vector_size + i : i + distance)...>();
}

/// Of each 2*distance neighbours the first `distance`, alternately from a and b.
template <int distance>
[[gnu::always_inline]] inline Vector low_halves(Vector a, Vector b) {
  return shuffle(a, b, low_halves<distance>(std::make_integer_sequence<int, vector_size>()));
}
/// Of each 2*distance neighbours the last `distance`, alternately from a and b.
template <int distance>
[[gnu::always_inline]] inline Vector high_halves(Vector a, Vector b) {
  return shuffle(a, b, high_halves<distance>(std::make_integer_sequence<int, vector_size>()));
}

}  // namespace penstock::graph::PENSTOCK_ISA
