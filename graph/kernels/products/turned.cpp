#include "graph/kernels/products/multiply.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct_tile.hpp"
#include "graph/kernels/products/pack.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A tile has this many columns of the product. Columns of the right factor are often a power of
/// two apart, so that a first-level cache keeps them all in one set. A set has room for twelve of
/// them on CPUs with 32 registers for Vectors, and for eight on others.
constexpr std::int64_t tile_columns = many_registers ? 12 : 6;
/// The sums of this many columns are transposed into the result at once.
constexpr std::int64_t group = widest_panel;

/// A Panel has some rows of the left factor, packed as [depth,pitch], and the sums of these rows
/// for a group of columns [group,pitch].
struct Panel {
  std::int64_t first_row, rows, pitch;
  float* packed;
  float* sums;
};

Panel panel_at(std::int64_t row, const Product& p, const ProductRange& range, float* packed,
               float* sums) {
  const std::int64_t rows = at_most(range.rows - row, panel_width);
  return {range.first_row + row, rows, round_up(rows, vector_size), packed + row * p.depth,
          sums + row * group};
}

void add_columns(const Product& p, const Panel& panel, std::int64_t column, std::int64_t columns,
                 float* sums) {
  const std::int64_t pitch = panel.pitch;
  for (std::int64_t i = 0; p.bias && i < columns; ++i)
    for (std::int64_t lane = 0; lane < pitch; lane += vector_size)
      store(sums + i * pitch + lane, broadcast(p.bias[column + i]));
  multiply_direct({.rows = static_cast<int>(columns),
                   .vectors = static_cast<int>(pitch / vector_size),
                   .left_row = p.right.column_stride,
                   .outer = {1, 0, 0},
                   .inner = {1, 0, 0},
                   .steps = {p.depth, 1, pitch},
                   .skips = nullptr,
                   .left = p.right.data + column * p.right.column_stride,
                   .right = panel.packed,
                   .accumulate = p.bias != nullptr,
                   .bias = nullptr,
                   .epilogue = relu_if(p.relu),
                   .target = sums,
                   .target_pitch = pitch});
}

/// Calls `work(panel)` for every panel of the range's rows.
template <class Work>
void for_each_panel(const Product& p, const ProductRange& range, float* packed, float* sums,
                    Work work) {
  for (std::int64_t row = 0; row < range.rows; row += panel_width)
    work(panel_at(row, p, range, packed, sums));
}

}  // namespace

bool prefers_turned(const Product& p) {
  constexpr std::int64_t deep = 32, many_columns = 32;
  constexpr bool broadcasts_from_memory = vector_size > 4;
  return broadcasts_from_memory && p.left.column_stride == 1 && p.right.row_stride == 1 &&
         p.depth >= deep && p.columns >= many_columns && turned_floats(p.rows, p.depth) > 0 &&
         8 * p.rows >= 7 * round_up(p.rows, vector_size);
}

void multiply_turned(const Product& p, const ProductRange& range, float* workspace) {
  float sums[turned_rows * group];
  const auto for_panels = [&](auto work) { for_each_panel(p, range, workspace, sums, work); };
  for_panels([&](const Panel& panel) {
    pack_columns(panel.rows, p.depth, p.left.data + panel.first_row * p.left.row_stride,
                 p.left.row_stride, {panel.packed, panel.pitch});
  });
  const std::int64_t end = range.first_column + range.columns;
  for (std::int64_t column = range.first_column; column < end; column += group) {
    const std::int64_t columns = at_most(end - column, group);
    for_each_chunk(columns, tile_columns, [&](std::int64_t first, std::int64_t count) {
      for_panels([&](const Panel& panel) {
        add_columns(p, panel, column + first, count, panel.sums + first * panel.pitch);
      });
    });
    for_panels([&](const Panel& panel) {
      unpack_columns(panel.rows, columns, panel.sums, panel.pitch,
                     p.result + panel.first_row * p.columns + column, p.columns);
    });
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
