// A Vector has as many floats as one register of the instruction set that a source is compiled for.
// The header is for kernels that the build compiles once per instruction set, each time with
// another namespace PENSTOCK_ISA and size PENSTOCK_VECTOR_BYTES; nothing here is shared between
// instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/kernels/vectors/each_element.hpp"

namespace penstock::graph::PENSTOCK_ISA {

using Vector = float __attribute__((vector_size(PENSTOCK_VECTOR_BYTES)));
/// A Mask is the result of comparing two Vectors: an element is -1 where the comparison is true,
/// and 0 where it is false.
using Mask = std::int32_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES)));
/// A Bytes has one byte for each element of a Vector.
using Bytes = std::uint8_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES / 4)));

/// A HalfVector is half a Vector. Kernels use it where registers have 64 bytes, because most CPUs
/// with such registers can work on two halves at once.
using HalfVector = float __attribute__((vector_size(PENSTOCK_VECTOR_BYTES / 2)));
using HalfMask = std::int32_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES / 2)));
using HalfBytes = std::uint8_t __attribute__((vector_size(PENSTOCK_VECTOR_BYTES / 8)));
inline constexpr bool half_vectors_pay = PENSTOCK_VECTOR_BYTES == 64;

inline constexpr int vector_size = PENSTOCK_VECTOR_BYTES / 4;
/// If this is true, the CPU has 32 registers for Vectors; otherwise it has 16.
inline constexpr bool many_registers = PENSTOCK_VECTOR_BYTES == 64;

/// A MaskOf<V> is the result of comparing two values of type V.
template <class V>
using MaskOf = decltype(V{} < V{});

template <class V = Vector, class Element>
[[gnu::always_inline]] inline V load(const Element* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <class V, class Element>
[[gnu::always_inline]] inline void store(Element* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

template <class V = Vector>
[[gnu::always_inline]] inline V broadcast(float value) {
  return value - V{};
}

/// Returns a·b + c, with the bits of multiply_add() for each element.
[[gnu::always_inline]] inline Vector multiply_add(Vector a, Vector b, Vector c) {
  Vector sum{};
  for (int i = 0; i < vector_size; ++i) sum[i] = multiply_add(a[i], b[i], c[i]);
  return sum;
}

/// Returns the lowest byte of each element of `values`.
[[gnu::always_inline]] inline Bytes to_bytes(Mask values) {
  return __builtin_convertvector(values, Bytes);
}
[[gnu::always_inline]] inline HalfBytes to_bytes(HalfMask values) {
  return __builtin_convertvector(values, HalfBytes);
}
/// Reads as many bytes at `p` as V has elements, and returns each of them as an integer.
template <class V>
[[gnu::always_inline]] inline MaskOf<V> load_bytes(const std::uint8_t* p) {
  return __builtin_convertvector(load<decltype(to_bytes(MaskOf<V>{}))>(p), MaskOf<V>);
}

/// Returns a V whose element i is table[at[i]]. `table` has 16 entries.
template <class V>
[[gnu::always_inline]] inline V lookup(const float* table, MaskOf<V> at) {
#if PENSTOCK_VECTOR_BYTES == 64 && defined(__clang__)
  if constexpr (sizeof(V) == 64)
    return __builtin_ia32_permvarsf512(load<V>(table), at);
  else
    return __builtin_ia32_vpermi2varps256(load<V>(table), at, load<V>(table + 8));
#elif PENSTOCK_VECTOR_BYTES == 64
  if constexpr (sizeof(V) == 64)
    return __builtin_shuffle(load<V>(table), at);
  else
    return __builtin_shuffle(load<V>(table), load<V>(table + 8), at);
#else
  V result;
  for (std::size_t i = 0; i < sizeof(V) / sizeof(float); ++i) result[i] = table[at[i]];
  return result;
#endif
}
/// If this is true, the CPU does lookup() in one instruction.
inline constexpr bool lookup_pays = PENSTOCK_VECTOR_BYTES == 64;

/// Calls `work` with each number from 0 to n - 1. The numbers are constants of the compiler, so
/// that arrays of Vectors that they index stay in registers.
template <int... i, class Work>
[[gnu::always_inline]] inline void unrolled(std::integer_sequence<int, i...>, Work work) {
  (work(std::integral_constant<int, i>()), ...);
}
template <int n, class Work>
[[gnu::always_inline]] inline void unrolled(Work work) {
  unrolled(std::make_integer_sequence<int, n>(), work);
}

/// Returns a Vector whose element i is a[at[i]] or, if at[i] is vector_size or more, b[at[i] -
/// vector_size].
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

/// Returns the first `distance` of every 2·distance elements of `a` and of `b`: `distance` elements
/// of `a`, then as many of `b`, and so on.
template <int distance>
[[gnu::always_inline]] inline Vector low_halves(Vector a, Vector b) {
  return shuffle(a, b, low_halves<distance>(std::make_integer_sequence<int, vector_size>()));
}
/// Returns the last `distance` of every 2·distance elements of `a` and of `b`: `distance` elements
/// of `a`, then as many of `b`, and so on.
template <int distance>
[[gnu::always_inline]] inline Vector high_halves(Vector a, Vector b) {
  return shuffle(a, b, high_halves<distance>(std::make_integer_sequence<int, vector_size>()));
}

}  // namespace penstock::graph::PENSTOCK_ISA
