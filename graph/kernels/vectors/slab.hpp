// A Slab is a group of lines that are worked on side by side, because the elements of each line are
// not neighbours in memory. This header is for kernels that the build compiles once per instruction
// set; instruction sets share nothing of it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/operands.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

// A slab has at most this many lines. Lines are put into slabs if their elements are not neighbours
// in memory; otherwise each line is worked on by itself.
inline constexpr std::int64_t columns = 64;

/// A Slab has `width` lines, which are its columns. Row r of a slab has element r of each line, and
/// begins at offset first + r·inner of the tensor.
struct Slab {
  std::int64_t first, rows, inner, width;

  /// Calls `work(offset)` for each row, with the offset at which the row begins.
  template <class Work>
  [[gnu::always_inline]] void for_each_row(Work work) const {
    for (std::int64_t row = 0; row < rows; ++row) work(first + row * inner);
  }
};

/// Calls `whole(offset)` for each line if the elements of a line are neighbours in memory, with the
/// offset at which the line begins. Otherwise calls `side_by_side(slab)` for each slab of lines.
template <class Whole, class SideBySide>
[[gnu::always_inline]] inline void for_each_group(const Lines& lines, Whole whole,
                                                  SideBySide side_by_side) {
  if (lines.length == 0) return;
  for (std::int64_t outer = 0; outer < lines.outer; ++outer) {
    const std::int64_t begin = outer * lines.length * lines.inner;
    if (lines.inner == 1) {
      whole(begin);
      continue;
    }
    for (std::int64_t i = 0; i < lines.inner; i += columns) {
      const std::int64_t left = lines.inner - i;
      side_by_side(Slab{begin + i, lines.length, lines.inner, left < columns ? left : columns});
    }
  }
}

/// This is half a Vector, the smallest number of elements that the compiler computes at once at the
/// end of a row. Elements that do not fill half a Vector are computed one by one, and each of them
/// takes as long as a Vector.
inline constexpr std::int64_t together = vector_size / 2;

constexpr std::int64_t rounded_up(std::int64_t count) {
  return (count + together - 1) / together * together;
}

/// Returns whether two or more elements at the end of each row would be computed one by one,
/// because they do not fill half a Vector. Such a slab is called ragged.
[[gnu::always_inline]] inline bool is_ragged(const Slab& slab) {
  return slab.width % together > 1;
}

/// Calls `use(row, i, f(element(row, i)))` for each element of a ragged slab. The element is in
/// column `i` of the row that begins at offset `row`, and `use` may overwrite it. Many rows at a
/// time are first copied one directly after the other into a buffer, so that `f` is computed for
/// whole Vectors.
template <class Element, class Function, class Use>
[[gnu::always_inline]] inline void for_each_joined(const Slab& slab, Element element, Function f,
                                                   Use use) {
  constexpr std::int64_t most = 16 * columns;
  float values[most];
  const std::int64_t width = slab.width, fitting = most / width;
  for (std::int64_t begin = 0; begin < slab.rows; begin += fitting) {
    const std::int64_t left = slab.rows - begin, rows = left < fitting ? left : fitting;
    const Slab some{slab.first + begin * slab.inner, rows, slab.inner, width};
    const std::int64_t count = rounded_up(rows * width);
    for (std::int64_t i = count - together; i < count; ++i) values[i] = 0;
    float* to = &values[0];
    some.for_each_row([&, width](std::int64_t row) {
      for_each_element(width, [=](std::int64_t i) { to[i] = element(row, i); });
      to += width;
    });
    for_each_element(count, [=, value = &values[0]](std::int64_t i) { value[i] = f(value[i]); });
    const float* from = &values[0];
    some.for_each_row([&, width](std::int64_t row) {
      for_each_element(width, [=](std::int64_t i) { use(row, i, from[i]); });
      from += width;
    });
  }
}

/// Does what for_each_joined() does, in a function of its own: inlined, its code would keep the
/// compiler from making vectors of other loops.
template <class Element, class Function, class Use>
[[gnu::noinline]] void for_each_joined_apart(const Slab& slab, Element element, Function f,
                                             Use use) {
  for_each_joined(slab, element, f, use);
}

/// Does what for_each_joined() does for a slab that may be ragged or not.
template <class Element, class Function, class Use>
[[gnu::always_inline]] inline void for_each_mapped(const Slab& slab, Element element, Function f,
                                                   Use use) {
  if (is_ragged(slab)) return for_each_joined_apart(slab, element, f, use);
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(width, [=](std::int64_t i) { use(row, i, f(element(row, i))); });
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
