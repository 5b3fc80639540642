#include "graph/kernels/products/tile.hpp"

#include "graph/kernels/vectors/finish.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

template <int rows, int vectors>
using Sums = Vector[rows][vectors];

/// Calls `work(row, v)` for every Vector of a tile, with its numbers as constants of the compiler.
template <int rows, int vectors, class Work>
[[gnu::always_inline]] inline void for_each_sum(Work work) {
  unrolled<rows>([&](auto row) { unrolled<vectors>([&](auto v) { work(row, v); }); });
}

template <int rows, int vectors>
[[gnu::always_inline]] inline void add_products(const Strip& strip, const float* panel,
                                                Sums<rows, vectors>& sums) {
  const float* left = strip.left;
  const std::int64_t pitch = strip.right_pitch, steps = strip.steps;
  for (std::int64_t run = 0; run < strip.runs; ++run) {
    const float* right = panel + strip.starts[run];
    for (std::int64_t step = 0; step < steps; ++step, right += pitch, left += left_pitch) {
      Vector factors[vectors];
      unrolled<vectors>([&](auto v) { factors[v] = load(right + v * vector_size); });
      unrolled<rows>([&](auto row) {
        const Vector factor = broadcast(left[row]);
        unrolled<vectors>([&](auto v) { sums[row][v] += factor * factors[v]; });
      });
    }
  }
}

template <int rows, int vectors>
[[gnu::always_inline]] inline void finish_sums(const Strip& strip, const float* bias,
                                               Sums<rows, vectors>& sums) {
  if (strip.bias_is == Bias::of_rows)
    for_each_sum<rows, vectors>([&](auto row, auto v) { sums[row][v] += broadcast(bias[row]); });
  if (strip.bias_is == Bias::of_columns)
    for_each_sum<rows, vectors>(
        [&](auto row, auto v) { sums[row][v] += load(bias + v * vector_size); });
  finish(
      strip.epilogue,
      [&](auto work) {
        for_each_sum<rows, vectors>([&](auto row, auto v) { work(sums[row][v], row); });
      },
      [](const float* numbers, auto row) { return broadcast(numbers[row]); });
}

template <int rows, int vectors>
void multiply_tiles(const Strip& strip) {
  const std::int64_t pitch = strip.target_pitch;
  const std::int64_t bias_step = strip.bias_is == Bias::of_columns ? panel_width : 0;
  const float *panel = strip.right, *bias = strip.bias;
  float* target = strip.target;
  for (std::int64_t i = 0; i < strip.panels; ++i) {
    Sums<rows, vectors> sums = {};
    if (strip.accumulate)
      for_each_sum<rows, vectors>(
          [&](auto row, auto v) { sums[row][v] = load(target + row * pitch + v * vector_size); });
    add_products<rows, vectors>(strip, panel, sums);
    finish_sums<rows, vectors>(strip, bias, sums);
    for_each_sum<rows, vectors>(
        [&](auto row, auto v) { store(target + row * pitch + v * vector_size, sums[row][v]); });
    panel += strip.right_panel;
    bias += bias_step;
    target += panel_width;
  }
}

template <int... row>
void multiply_tiles(const Strip& strip, std::integer_sequence<int, row...>) {
  using Multiply = void (*)(const Strip&);
  static constexpr Multiply one[] = {multiply_tiles<row + 1, 1>...},
                            two[] = {multiply_tiles<row + 1, 2>...};
  (strip.vectors == 1 ? one : two)[strip.rows - 1](strip);
}

}  // namespace

void multiply_strip(const Strip& strip) {
  multiply_tiles(strip, std::make_integer_sequence<int, most_rows>());
}

}  // namespace penstock::graph::PENSTOCK_ISA
