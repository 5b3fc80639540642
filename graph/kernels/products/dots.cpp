#include "graph/kernels/products/multiply.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/vectors/square.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A tile has up to `tile_rows` rows and `tile_columns` columns. There is room for as many sums,
/// each of them a Vector, as fill whole squares of `vector_size` Vectors: the Vectors of a square
/// are summed all at once.
constexpr int tile_rows = 4;
constexpr int tile_columns = many_registers ? 6 : 2;
constexpr int tile_sums = (tile_rows * tile_columns + vector_size - 1) / vector_size * vector_size;

/// A DotTile has pointers to the rows of the left factor and the columns of the right factor that
/// make one tile. The steps of depth of a row or a column are neighbours in memory.
struct DotTile {
  std::int64_t depth;
  bool relu;
  float bias[tile_sums];  ///< This has the bias of every sum, row by row.
  const float* rows[tile_rows];
  const float* columns[tile_columns];
  const float* ahead;  ///< This points to the columns that the next tiles read.
  /// This many cache lines, from `ahead` on, are prefetched with every `vector_size` steps.
  std::int64_t ahead_lines;
};

Vector not_below_zero(Vector values) {
  return values < Vector{} ? Vector{} : values;
}

/// Returns `values`, with zeros in place of the elements before element `first`.
Vector from_lane(std::int64_t first, Vector values) {
  Mask lanes;
  for (int i = 0; i < vector_size; ++i) lanes[i] = i;
  const Mask keep = lanes >= static_cast<std::int32_t>(first);
  return reinterpret_cast<Vector>(reinterpret_cast<Mask>(values) & keep);
}

/// Adds the products of the `vector_size` steps from `step` on to `sums`, which lie row by row.
/// `load_run` loads these steps of a row or a column.
template <int rows, class Load>
[[gnu::always_inline]] inline void add_step(const DotTile& tile, std::int64_t step, Load load_run,
                                            Vector* sums) {
  Vector columns[tile_columns];
  unrolled<tile_columns>([&](auto j) { columns[j] = load_run(tile.columns[j] + step); });
  unrolled<rows>([&](auto i) {
    const Vector row = load_run(tile.rows[i] + step);
    unrolled<tile_columns>([&](auto j) { sums[i * tile_columns + j] += row * columns[j]; });
  });
}

/// Computes the dot products of a tile, row by row. If fewer than `vector_size` steps are left at
/// the end, they are read together with some steps before them, so that nothing is read past a row.
/// These earlier steps are then replaced by zeros in both factors: a zero in one factor only could
/// meet an infinity in the other, which would make a NaN.
template <int rows, bool fetches>
[[gnu::noinline]] void dots(const DotTile& tile, float* to) {
  Vector sums[tile_sums] = {};
  std::int64_t step = 0;
  const float* ahead = tile.ahead;
  for (; step + vector_size <= tile.depth; step += vector_size) {
    for (std::int64_t i = 0; fetches && i < tile.ahead_lines; ++i, ahead += vector_size)
      __builtin_prefetch(ahead);
    add_step<rows>(
        tile, step, [](const float* p) { return load(p); }, sums);
  }
  if (const std::int64_t left = tile.depth - step; left > 0)
    add_step<rows>(
        tile, tile.depth - vector_size,
        [&](const float* p) { return from_lane(vector_size - left, load(p)); }, sums);
  unrolled<tile_sums / vector_size>([&](auto square) {
    Vector part[vector_size];
    unrolled<vector_size>([&](auto i) { part[i] = sums[square * vector_size + i]; });
    const Vector sum = sum_of_each(part) + load(tile.bias + square * vector_size);
    store(to + square * vector_size, tile.relu ? not_below_zero(sum) : sum);
  });
}

void dots_of(int rows, const DotTile& tile, float* to) {
  using Dots = void (*)(const DotTile&, float*);
  static constexpr Dots by_rows[] = {dots<1, false>, dots<2, false>, dots<3, false>,
                                     dots<4, false>};
  static constexpr Dots fetching[] = {dots<1, true>, dots<2, true>, dots<3, true>, dots<4, true>};
  (tile.ahead_lines > 0 ? fetching : by_rows)[rows - 1](tile, to);
}

DotTile tile_of_columns(const Product& p, std::int64_t column, std::int64_t columns) {
  DotTile tile{p.depth, p.relu, {}, {}, {}, nullptr, 0};
  for (std::int64_t j = 0; j < tile_columns; ++j) {
    const std::int64_t at = column + at_most(j, columns - 1);
    tile.columns[j] = p.right.data + at * p.right.column_stride;
    for (std::int64_t i = 0; p.bias && i < tile_rows; ++i)
      tile.bias[i * tile_columns + j] = p.bias[at];
  }
  return tile;
}

/// Writes `rows` rows of `columns` sums to the result `to`.
void put(const float* sums, std::int64_t rows, std::int64_t columns, float* to,
         std::int64_t pitch) {
  for (std::int64_t i = 0; i < rows; ++i, to += pitch, sums += tile_columns)
    if (columns == tile_columns)
      __builtin_memcpy(to, sums, sizeof(float) * tile_columns);
    else
      for (std::int64_t j = 0; j < columns; ++j) to[j] = sums[j];
}

/// Computes `columns` neighbouring columns, at most `tile_columns`. If there are fewer, the last
/// column is computed several times.
void multiply_columns(const Product& p, const ProductRange& range, std::int64_t column,
                      std::int64_t columns) {
  DotTile tile = tile_of_columns(p, column, columns);
  // If no cache keeps the right factor, the next columns are prefetched while these columns are
  // multiplied. The small tiles of instruction sets with few registers leave no time for that.
  const std::int64_t tiles = (range.rows + tile_rows - 1) / tile_rows;
  tile.ahead = p.right.data + (column + tile_columns) * p.right.column_stride;
  if (many_registers && p.depth * p.columns > cached_floats)
    tile.ahead_lines = (tile_columns + tiles - 1) / tiles;
  for_each_chunk(range.rows, tile_rows, [&](std::int64_t first, std::int64_t rows) {
    const std::int64_t row = range.first_row + first;
    for (std::int64_t i = 0; i < rows; ++i)
      tile.rows[i] = p.left.data + (row + i) * p.left.row_stride;
    float sums[tile_sums];
    dots_of(static_cast<int>(rows), tile, sums);
    tile.ahead += tile.ahead_lines * p.depth;
    put(sums, rows, columns, p.result + row * p.columns + column, p.columns);
  });
}

}  // namespace

bool prefers_dots(const Product& p) {
  constexpr std::int64_t few_rows = 64, deep = 320;
  return p.left.column_stride == 1 && p.right.row_stride == 1 && p.rows <= few_rows &&
         p.depth >= deep;
}

void multiply_by_dots(const Product& p, const ProductRange& range) {
  const std::int64_t end = range.first_column + range.columns;
  for (std::int64_t column = range.first_column; column < end; column += tile_columns)
    multiply_columns(p, range, column, at_most(end - column, tile_columns));
}

}  // namespace penstock::graph::PENSTOCK_ISA
