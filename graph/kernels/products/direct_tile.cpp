#include "graph/kernels/products/direct_tile.hpp"

#include "graph/kernels/vectors/finish.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A float is prefetched this many steps before it is used.
constexpr int steps_ahead = 8;

template <int rows, int vectors>
using Sums = Vector[rows][vectors];

/// Calls `work(row, v)` for every Vector of a tile, with its numbers as constants of the compiler.
template <int rows, int vectors, class Work>
[[gnu::always_inline]] inline void for_each_sum(Work work) {
  unrolled<rows>([&](auto row) { unrolled<vectors>([&](auto v) { work(row, v); }); });
}

/// A value of Rows says how the rows of a tile lie in the left factor. With `runs`, the rows lie
/// side by side, and some of them are left out. With `pixels`, the rows lie side by side, and the
/// steps of depth are far from each other. With `planes`, the rows are far from each other.
enum class Rows { runs, pixels, planes };

/// Adds the products of all steps of the innermost loop to the sums of the rows [first, last).
template <int first, int last, Rows lie, int rows, int vectors>
[[gnu::always_inline]] inline void add_steps(const DirectTile& tile, const float* left,
                                             const float* right, Sums<rows, vectors>& sums) {
  constexpr int count = last - first;
  // The code reaches this many rows from one pointer.
  constexpr int reach = lie == Rows::planes ? 4 : count;
  constexpr int pointers = (count + reach - 1) / reach;
  const DepthLoop steps = tile.steps;
  const std::int64_t left_row = lie == Rows::planes ? tile.left_row : 1;
  const float* from[pointers];
  unrolled<pointers>([&](auto i) { from[i] = left + (first + reach * i) * left_row; });
  for (std::int64_t i = 0; i < steps.count; ++i, right += steps.right) {
    if constexpr (lie == Rows::pixels) {
      __builtin_prefetch(from[0] + steps_ahead * steps.left);
      __builtin_prefetch(from[0] + steps_ahead * steps.left + count - 1);
    }
    Vector factors[vectors];
    unrolled<vectors>([&](auto v) { factors[v] = load(right + v * vector_size); });
    unrolled<count>([&](auto row) {
      const Vector factor = broadcast(from[row / reach][row % reach * left_row]);
      unrolled<vectors>([&](auto v) { sums[first + row][v] += factor * factors[v]; });
    });
    unrolled<pointers>([&](auto i) { from[i] += steps.left; });
  }
}

/// Adds the products of all steps of the innermost loop to the sums of the rows that `skip` does
/// not leave out; DirectTile::skips says how. The function tries `skipped` rows, then one more, and
/// so on, so that the number of rows is a constant of the compiler.
template <int skipped, int rows, int vectors>
[[gnu::always_inline]] inline void add_some(const DirectTile& tile, std::int8_t skip,
                                            const float* left, const float* right,
                                            Sums<rows, vectors>& sums) {
  if constexpr (skipped < rows) {
    if (skip == skipped) return add_steps<0, rows - skipped, Rows::runs>(tile, left, right, sums);
    if (skip == -skipped) return add_steps<skipped, rows, Rows::runs>(tile, left, right, sums);
    if constexpr (skipped < most_skipped) add_some<skipped + 1>(tile, skip, left, right, sums);
  }
}

template <int rows, int vectors, Rows lie>
void multiply_tile(const DirectTile& tile) {
  const auto target = [&](auto row, auto v) {
    return tile.target + row * tile.target_pitch + v * vector_size;
  };
  Sums<rows, vectors> sums = {};
  if (tile.accumulate)
    for_each_sum<rows, vectors>([&](auto row, auto v) { sums[row][v] = load(target(row, v)); });
  for (std::int64_t i = 0; i < tile.outer.count; ++i)
    for (std::int64_t j = 0; j < tile.inner.count; ++j) {
      const float* const left = tile.left + i * tile.outer.left + j * tile.inner.left;
      const float* const right = tile.right + i * tile.outer.right + j * tile.inner.right;
      if constexpr (lie == Rows::runs)
        add_some<0>(tile, tile.skips[j], left, right, sums);
      else
        add_steps<0, rows, lie>(tile, left, right, sums);
    }
  if (tile.bias)
    for_each_sum<rows, vectors>(
        [&](auto row, auto v) { sums[row][v] += load(tile.bias + v * vector_size); });
  finish(
      tile.epilogue,
      [&](auto work) {
        for_each_sum<rows, vectors>([&](auto row, auto v) { work(sums[row][v], v); });
      },
      [](const float* numbers, auto v) { return load(numbers + v * vector_size); });
  for_each_sum<rows, vectors>([&](auto row, auto v) { store(target(row, v), sums[row][v]); });
}

template <Rows lie, int... row>
void multiply_tile(const DirectTile& tile, std::integer_sequence<int, row...>) {
  using Multiply = void (*)(const DirectTile&);
  static constexpr Multiply one[] = {multiply_tile<row + 1, 1, lie>...},
                            two[] = {multiply_tile<row + 1, 2, lie>...};
  (tile.vectors == 1 ? one : two)[tile.rows - 1](tile);
}

}  // namespace

void multiply_direct(const DirectTile& tile) {
  const auto rows = std::make_integer_sequence<int, most_rows>();
  if (tile.skips) return multiply_tile<Rows::runs>(tile, rows);
  if (tile.left_row == 1) return multiply_tile<Rows::pixels>(tile, rows);
  multiply_tile<Rows::planes>(tile, rows);
}

}  // namespace penstock::graph::PENSTOCK_ISA
