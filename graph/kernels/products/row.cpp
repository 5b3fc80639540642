#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/multiply.hpp"
#include "graph/kernels/vectors/square.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// This many columns are read at a time: the CPU has registers for their addresses, and not for
/// more.
constexpr int columns_at_once = vector_size < 8 ? vector_size : 8;

/// Adds to each of `columns_at_once` sums the products of the row with one column, except for the
/// last steps that fill no Vector.
void add_columns(std::int64_t depth, const float* row, const float* const* columns, Vector* sums) {
  Vector total[columns_at_once] = {};
  for (std::int64_t step = 0; step + vector_size <= depth; step += vector_size) {
    const Vector factor = load(row + step);
    unrolled<columns_at_once>([&](auto j) { total[j] += factor * load(columns[j] + step); });
  }
  unrolled<columns_at_once>([&](auto j) { sums[j] = total[j]; });
}

/// Returns `vector_size` elements of the result, which belong to `columns`.
Vector elements(std::int64_t depth, const float* row, const float* const* columns) {
  Vector sums[vector_size];
  for (int first = 0; first < vector_size; first += columns_at_once)
    add_columns(depth, row, columns + first, sums + first);
  Vector result = sum_of_each(sums);
  for (std::int64_t step = depth / vector_size * vector_size; step < depth; ++step)
    for (int j = 0; j < vector_size; ++j) result[j] += row[step] * columns[j][step];
  return result;
}

}  // namespace

bool prefers_row(const Product& p) {
  constexpr std::int64_t deep = 32;
  return p.rows == 1 && p.left.column_stride == 1 && p.right.row_stride == 1 && p.depth >= deep;
}

void multiply_row(const Product& p, const ProductRange& range) {
  const std::int64_t end = range.first_column + range.columns;
  for (std::int64_t first = range.first_column; first < end; first += vector_size) {
    const std::int64_t count = at_most(end - first, vector_size);
    // If there are fewer columns than a Vector has elements, the last one is computed several
    // times.
    const float* columns[vector_size];
    float bias[vector_size] = {};
    for (std::int64_t j = 0; j < vector_size; ++j) {
      const std::int64_t column = first + at_most(j, count - 1);
      columns[j] = p.right.data + column * p.right.column_stride;
      if (p.bias) bias[j] = p.bias[column];
    }
    Vector result = elements(p.depth, p.left.data, columns) + load(bias);
    if (p.relu) result = result < Vector{} ? Vector{} : result;
    float all[vector_size];
    store(all, result);
    __builtin_memcpy(p.result + first, all, sizeof(float) * static_cast<std::size_t>(count));
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
