#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_channels = many_registers ? 4 : 2;
constexpr int most_columns = 2;
constexpr int most_taps = 6;

/// Returns the rows of the kernel through which row `row` of dx, with its border, gets gradients
/// from the rows `rows` of dy.
Part kernel_rows(const LaneConvolution& conv, std::int64_t row, Part rows) {
  return within({row < rows.end ? 0 : row - rows.end + 1, row - rows.begin + 1},
                conv.kernel_height);
}

/// Adds to `dx` the contribution of `columns` neighbouring pixels of `dy` through `taps`
/// neighbouring columns of the kernel. It falls on columns + taps - 1 pixels in each of `channels`
/// neighbouring channels.
template <class V, int channels, int columns, int taps>
[[gnu::noinline]] void spread_tile(const LaneConvolution& conv, Part rows, const float* dy,
                                   const float* weight, float* dx) {
  const std::int64_t plane = padded_height(conv) * padded_width(conv) * lanes;
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  V sums[channels][columns + taps - 1];
  unrolled<channels>([&](auto c) {
    unrolled<columns + taps - 1>([&](auto i) { sums[c][i] = load<V>(dx + c * plane + i * lanes); });
  });
  for (std::int64_t o = 0; o < conv.outputs; ++o) {
    for (std::int64_t kh = rows.begin; kh < rows.end; ++kh) {
      const float* const pixels = dy - kh * conv.out_width * lanes;
      const float* const taps_of_row = weight + kh * conv.kernel_width;
      V pixel[columns];
      unrolled<columns>([&](auto column) { pixel[column] = load<V>(pixels + column * lanes); });
      unrolled<channels>([&](auto c) {
        unrolled<taps>([&](auto tap) {
          const float w = taps_of_row[c * cells + tap];
          unrolled<columns>([&](auto column) { sums[c][column + tap] += w * pixel[column]; });
        });
      });
    }
    dy += conv.out_height * conv.out_width * lanes;
    weight += conv.inputs * cells;
  }
  unrolled<channels>([&](auto c) {
    unrolled<columns + taps - 1>([&](auto i) { store(dx + c * plane + i * lanes, sums[c][i]); });
  });
}

/// Adds to `channels` neighbouring channels of `dx`, which has a border, the contribution of the
/// rows `rows` of `dy`: two neighbouring rows, or the last row by itself.
template <int channels>
void spread_rows(const LaneConvolution& conv, std::int64_t active, Part rows, const float* dy,
                 const float* weight, float* dx) {
  for (std::int64_t row = rows.begin; row < rows.end + conv.kernel_height - 1; ++row)
    for (std::int64_t column = 0; column < conv.out_width; column += most_columns)
      with_constant<most_columns>(conv.out_width - column, [&](auto columns) {
        for_each_tile<most_taps>(conv.kernel_width, [&](std::int64_t tap, auto taps) {
          for_each_vector(active, [&](auto vector, std::int64_t lane) {
            spread_tile<decltype(vector), channels, columns, taps>(
                conv, kernel_rows(conv, row, rows),
                dy + (row * conv.out_width + column) * lanes + lane, weight + tap,
                dx + (row * padded_width(conv) + column + tap) * lanes + lane);
          });
        });
      });
}

}  // namespace

void convolve_input_gradient_block(const LaneConvolution& conv, Part channels, std::int64_t active,
                                   const float* dy, const float* weight, float* dx) {
  const std::int64_t plane = padded_height(conv) * padded_width(conv) * lanes;
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  const std::int64_t count = channels.end - channels.begin;
  weight += channels.begin * cells;
  dx += channels.begin * plane;
  __builtin_memset(dx, 0, sizeof(float) * static_cast<std::size_t>(count * plane));
  for_each_tile<most_channels>(count, [&](std::int64_t c, auto tile) {
    for (std::int64_t row = 0; row < conv.out_height; row += 2)
      spread_rows<tile>(conv, active, within({row, row + 2}, conv.out_height), dy,
                        weight + c * cells, dx + c * plane);
  });
}

void convolve_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace) {
  const std::int64_t blocks = blocks_of(conv.samples);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Part channels = every(part, blocks, block, conv.inputs);
    const float* const from = dy + block * conv.outputs * conv.out_height * conv.out_width * lanes;
    float* const to = dx + block * conv.inputs * conv.height * conv.width * lanes;
    if (empty(channels)) continue;
    float* const target = has_padding(conv) ? workspace : to;
    convolve_input_gradient_block(conv, channels, active_lanes(conv.samples, block), from, weight,
                                  target);
    if (has_padding(conv)) without_padding(conv, channels, target, to);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
