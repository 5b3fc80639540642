#include "graph/kernels/products/multiply.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr std::int64_t no_start = 0;
constexpr std::int64_t few_rows = 4;

/// A Block is a part of a product: a range of steps of depth, of columns and of rows.
struct Block {
  std::int64_t first_step, steps;
  std::int64_t first_column, columns;
  std::int64_t first_row, rows;
};

/// Returns whether the right factor is read where it lies. With few rows, it is read so seldom that
/// packing it would take more time than it saves.
bool reads_in_place(const Product& p) {
  return p.right.column_stride == 1 && p.rows <= 4 * most_rows;
}

/// Returns whether `block` is computed in small tiles. If it has little depth and many tiles, the
/// CPU stores the sums of one small tile while it begins the next one.
bool is_shallow(const Block& block) {
  return block.steps <= 12 && block.columns >= 256;
}

void pack_left(const Product& p, const Block& block, std::int64_t row, std::int64_t rows,
               float* to) {
  const ConstMatrix& left = p.left;
  const float* const from =
      left.data + row * left.row_stride + block.first_step * left.column_stride;
  if (left.row_stride == 1)  // Whole Vectors are copied faster, even if fewer rows are needed.
    pack_rows(at_most(p.rows - row, left_pitch), block.steps, from, left.column_stride,
              {to, left_pitch});
  else
    pack_columns(rows, block.steps, from, left.row_stride, {to, left_pitch});
}

void pack_panel(const Product& p, const Block& block, std::int64_t column, float* to) {
  const ConstMatrix& right = p.right;
  const std::int64_t columns = at_most(block.columns - column, panel_width);
  const float* const from = right.data + block.first_step * right.row_stride +
                            (block.first_column + column) * right.column_stride;
  if (right.column_stride == 1)
    pack_rows(columns, block.steps, from, right.row_stride, {to, panel_width});
  else
    pack_columns(columns, block.steps, from, right.column_stride, {to, panel_width});
}

/// Packs the panels of the right factor that are not read where they lie, one behind the other.
void pack_right(const Product& p, const Block& block, float* to) {
  const std::int64_t first = reads_in_place(p) ? block.columns / panel_width * panel_width : 0;
  for (std::int64_t column = first; column < block.columns; column += panel_width)
    pack_panel(p, block, column, to + (column - first) * block.steps);
}

/// Returns the strip of the `rows` rows from `row` on. `left` is the packed left factor of these
/// rows.
Strip strip_of_rows(const Product& p, const Block& block, std::int64_t row, std::int64_t rows,
                    const float* left) {
  const bool first = block.first_step == 0, last = block.first_step + block.steps == p.depth;
  return {.rows = static_cast<int>(rows),
          .vectors = 2,
          .panels = 0,
          .runs = 1,
          .steps = block.steps,
          .left = left,
          .right = nullptr,
          .starts = &no_start,
          .right_pitch = panel_width,
          .right_panel = block.steps * panel_width,
          .accumulate = !first,
          .bias_is = p.bias && last ? Bias::of_columns : Bias::none,
          .bias = p.bias ? p.bias + block.first_column : nullptr,
          .epilogue = relu_if(p.relu && last),
          .target = p.result + row * p.columns + block.first_column,
          .target_pitch = p.columns};
}

void multiply_rows(const Product& p, const Block& block, Strip strip, const float* right) {
  strip.right = right;
  if (!reads_in_place(p)) return multiply_columns(strip, block.columns);
  const std::int64_t whole = block.columns / panel_width * panel_width;
  Strip ragged = strip;
  strip.right = p.right.data + block.first_step * p.right.row_stride + block.first_column;
  strip.right_pitch = p.right.row_stride;
  strip.right_panel = panel_width;
  multiply_columns(strip, whole);
  if (whole == block.columns) return;
  ragged.target += whole;
  if (ragged.bias_is == Bias::of_columns) ragged.bias += whole;
  multiply_ragged(ragged, block.columns - whole);
}

void multiply_block(const Product& p, const Block& block, float* workspace) {
  const PackedWorkspace regions = packed_workspace(p.columns, p.depth);
  float* const left = workspace + regions.left;
  float* const right = workspace + regions.right;
  pack_right(p, block, right);
  const bool shallow = is_shallow(block);
  const std::int64_t most = shallow ? left_pitch : most_rows;
  for_each_chunk(block.rows, most, [&](std::int64_t first, std::int64_t rows) {
    const std::int64_t row = block.first_row + first;
    pack_left(p, block, row, rows, left);
    for_each_chunk(rows, shallow ? few_rows : rows, [&](std::int64_t at, std::int64_t count) {
      multiply_rows(p, block, strip_of_rows(p, block, row + at, count, left + at), right);
    });
  });
}

}  // namespace

void multiply(const Product& p, Part part, float* workspace) {
  const ProductRange range = range_of(part, p.rows, p.columns);
  if (prefers_row(p)) return multiply_row(p, range);
  if (prefers_turned(p)) return multiply_turned(p, range, workspace);
  if (prefers_stationary(p)) return multiply_stationary(p, range, workspace);
  if (prefers_dots(p)) return multiply_by_dots(p, range);
  const std::int64_t depth = at_most(p.depth, depth_block);
  const std::int64_t step = column_block(p.columns, depth);
  const std::int64_t end = range.first_column + range.columns;
  for (std::int64_t column = range.first_column; column < end; column += step) {
    Block block{0, 0, column, at_most(end - column, step), range.first_row, range.rows};
    do {
      block.steps = at_most(p.depth - block.first_step, depth);
      multiply_block(p, block, workspace);
      block.first_step += block.steps;
    } while (block.first_step < p.depth);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
