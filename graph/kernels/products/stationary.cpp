#include "graph/kernels/products/multiply.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A Block is a group of panels of a product whose sums [columns / panel_width,rows,panel_width]
/// are kept in memory at the same time.
struct Block {
  std::int64_t first_row, rows;
  std::int64_t first_column, columns;
  float* left;  ///< This is the packed left factor [rows,left_pitch].
  float* sums;
};

/// Steps are some steps of depth, whose products are added to the sums of one panel at a time.
struct Steps {
  const float* right;
  std::int64_t right_pitch;
  std::int64_t rows;
  const float* left;
  float* sums;
};

template <int steps, bool first, bool fetches>
[[gnu::always_inline]] inline void add_rows(const Steps& s, std::int64_t begin, std::int64_t end,
                                            const Vector (&right)[steps][2]) {
  const float* left = s.left + begin * left_pitch;
  const float* ahead = s.right + begin * s.right_pitch + panel_width;
  float* to = s.sums + begin * panel_width;
  for (std::int64_t row = begin; row < end; ++row, to += panel_width, left += left_pitch) {
    if constexpr (fetches) {
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + vector_size);
      ahead += s.right_pitch;
    }
    Vector sums[2] = {};
    if constexpr (!first) unrolled<2>([&](auto v) { sums[v] = load(to + v * vector_size); });
    unrolled<steps>([&](auto step) {
      const Vector factor = broadcast(left[step]);
      unrolled<2>([&](auto v) { sums[v] += factor * right[step][v]; });
    });
    unrolled<2>([&](auto v) { store(to + v * vector_size, sums[v]); });
  }
}

/// Adds the products of the steps of depth to the sums of all rows of one panel. For each step, a
/// row of the right factor in the next panel is prefetched.
template <int steps, bool first>
void add_steps(const Steps& s) {
  Vector right[steps][2];
  unrolled<steps>([&](auto step) {
    unrolled<2>(
        [&](auto v) { right[step][v] = load(s.right + step * s.right_pitch + v * vector_size); });
  });
  const std::int64_t fetching = at_most(s.rows, steps);
  add_rows<steps, first, true>(s, 0, fetching, right);
  add_rows<steps, first, false>(s, fetching, s.rows, right);
}

template <int... step>
void add_steps(std::int64_t count, bool first, const Steps& s,
               std::integer_sequence<int, step...>) {
  using Add = void (*)(const Steps&);
  static constexpr Add begin[] = {add_steps<step + 1, true>...},
                       go_on[] = {add_steps<step + 1, false>...};
  (first ? begin : go_on)[count - 1](s);
}

void pack_left(const Product& p, const Block& block, std::int64_t step, std::int64_t steps) {
  const ConstMatrix& left = p.left;
  const float* const from =
      left.data + block.first_row * left.row_stride + step * left.column_stride;
  if (left.column_stride == 1)
    pack_rows(steps, block.rows, from, left.row_stride, {block.left, left_pitch});
  else
    pack_columns(steps, block.rows, from, left.column_stride, {block.left, left_pitch});
}

/// Calls `work(column, sums)` for every panel of `block`, with the panel's first column and its
/// sums.
template <class Work>
void for_each_panel(const Block& block, Work work) {
  for (std::int64_t column = 0; column < block.columns; column += panel_width)
    work(block.first_column + column, block.sums + column * block.rows);
}

/// Returns the column from which a panel at `column` reads. The last panel overlaps the panel
/// before it, so that nothing is read past the end of a row.
std::int64_t start_of_panel(const Product& p, std::int64_t column) {
  return at_most(column, p.columns - panel_width);
}

/// Writes the sums of the panel at `column` to the result, except for columns that belong to the
/// panel before it.
void put(const Product& p, const Block& block, std::int64_t column, const float* sums) {
  const std::int64_t start = start_of_panel(p, column), skipped = column - start;
  Vector bias[2] = {};
  if (p.bias) unrolled<2>([&](auto v) { bias[v] = load(p.bias + start + v * vector_size); });
  float* to = p.result + block.first_row * p.columns + column;
  for (std::int64_t row = 0; row < block.rows; ++row, sums += panel_width, to += p.columns) {
    float results[panel_width];
    unrolled<2>([&](auto v) {
      Vector sum = load(sums + v * vector_size) + bias[v];
      if (p.relu) sum = sum < Vector{} ? Vector{} : sum;
      store(results + v * vector_size, sum);
    });
    copy_floats(panel_width - skipped, results + skipped, to);
  }
}

void multiply_block(const Product& p, const Block& block) {
  for_each_chunk(p.depth, most_rows, [&](std::int64_t step, std::int64_t steps) {
    pack_left(p, block, step, steps);
    const float* const right = p.right.data + step * p.right.row_stride;
    for_each_panel(block, [&](std::int64_t column, float* sums) {
      add_steps(
          steps, step == 0,
          {right + start_of_panel(p, column), p.right.row_stride, block.rows, block.left, sums},
          std::make_integer_sequence<int, most_rows>());
    });
  });
  for_each_panel(block, [&](std::int64_t column, float* sums) { put(p, block, column, sums); });
}

}  // namespace

bool prefers_stationary(const Product& p) {
  return p.right.column_stride == 1 && p.columns >= panel_width &&
         stationary_workspace(p.rows, p.columns, p.depth).end > 0;
}

void multiply_stationary(const Product& p, const ProductRange& range, float* workspace) {
  const StationaryWorkspace regions = stationary_workspace(p.rows, p.columns, p.depth);
  const std::int64_t most = stationary_columns(range.rows);
  for (std::int64_t column = 0; column < range.columns; column += most)
    multiply_block(p, {range.first_row, range.rows, range.first_column + column,
                       at_most(range.columns - column, most), workspace + regions.left,
                       workspace + regions.sums});
}

}  // namespace penstock::graph::PENSTOCK_ISA
