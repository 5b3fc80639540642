#include "graph/kernels/products/packed.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr std::int64_t no_start = 0;

/// Calls `work(first, steps)` for each block of steps of depth.
template <class Work>
void for_each_block(std::int64_t depth, Work work) {
  for (std::int64_t first = 0; first < depth; first += depth_block)
    work(first, at_most(depth - first, depth_block));
}

/// Packs `columns` columns of the right factor, at most as many as a panel has. `from` is the
/// element of the first step and the first column.
void pack_panel(std::int64_t columns, std::int64_t steps, const ConstMatrix& right,
                const float* from, float* to) {
  if (right.column_stride == 1)
    pack_rows(columns, steps, from, right.row_stride, {to, panel_width});
  else
    pack_columns(columns, steps, from, right.column_stride, {to, panel_width});
}

/// Returns the strip of all columns of `rows` rows, whose left factor is packed in `left`, for the
/// steps of depth from `first` on.
Strip strip_of(const PackedProduct& p, std::int64_t row, std::int64_t rows, std::int64_t first,
               std::int64_t steps, const float* left) {
  const bool last = first + steps == p.depth;
  return {.rows = static_cast<int>(rows),
          .vectors = 2,
          .panels = 0,
          .runs = 1,
          .steps = steps,
          .left = left,
          .right = p.right + round_up(p.columns, panel_width) * first,
          .starts = &no_start,
          .right_pitch = panel_width,
          .right_panel = steps * panel_width,
          .accumulate = p.accumulate || first > 0,
          .bias_is = p.bias && last ? Bias::of_columns : Bias::none,
          .bias = p.bias,
          .target = p.result + row * p.columns,
          .target_pitch = p.columns};
}

}  // namespace

void pack_factor(std::int64_t columns, std::int64_t depth, const ConstMatrix& right,
                 float* packed) {
  for_each_block(depth, [&](std::int64_t first, std::int64_t steps) {
    float* const block = packed + round_up(columns, panel_width) * first;
    for (std::int64_t column = 0; column < columns; column += panel_width)
      pack_panel(at_most(columns - column, panel_width), steps, right,
                 right.data + first * right.row_stride + column * right.column_stride,
                 block + column * steps);
  });
}

void multiply_packed(const PackedProduct& p, float* workspace) {
  for_each_block(p.depth, [&](std::int64_t first, std::int64_t steps) {
    for_each_chunk(p.rows, most_rows, [&](std::int64_t row, std::int64_t rows) {
      pack_columns(rows, steps, p.left + row * p.depth + first, p.depth, {workspace, left_pitch});
      multiply_columns(strip_of(p, row, rows, first, steps, workspace), p.columns);
    });
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
