#include "graph/kernels/lanes/convolve.hpp"

#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Writes the largest of four pixels, or zero if it is below zero, to `y`, and the number of that
/// pixel, its winner, to `winners`. The number is 4 if the largest pixel is not above zero. The
/// first of equal pixels wins, and a NaN wins over every number.
template <class V>
[[gnu::always_inline]] inline void pool_pixels(const V (&pixels)[4], float* y,
                                               std::uint8_t* winners) {
  V best = pixels[0];
  MaskOf<V> winner{};
  unrolled<3>([&](auto i) {
    const V challenger = pixels[i + 1];
    const auto wins = (challenger > best) | (challenger != challenger);
    best = wins ? challenger : best;
    winner = wins ? MaskOf<V>{} + (i + 1) : winner;
  });
  store(y, best < V{} ? V{} : best);
  store(winners, to_bytes(best <= V{} ? MaskOf<V>{} + 4 : winner));
}

/// Computes one pooled pixel in each of `outputs` neighbouring output channels.
template <class V, int outputs>
[[gnu::noinline]] void convolve_pool_tile(const LaneConvolution& conv, const float* x,
                                          const float* weight, const float* bias, float* y,
                                          std::uint8_t* winners) {
  const std::int64_t plane = (conv.out_height / 2) * (conv.out_width / 2) * lanes;
  V sums[outputs][4];
  start_with_bias(bias, sums);
  add_windows<V, outputs, 2, 2>(conv, x, weight, sums);
  unrolled<outputs>([&](auto o) { pool_pixels(sums[o], y + o * plane, winners + o * plane); });
}

/// Computes the rows `rows` of `y` and `winners` [O,OH/2,OW/2,16] from one block of samples `x`
/// [C,H,W,16] with its border.
void convolve_pool_block(const LaneConvolution& conv, Part rows, std::int64_t active,
                         const float* x, const float* weight, const float* bias, float* y,
                         std::uint8_t* winners) {
  const std::int64_t height = conv.out_height / 2, width = conv.out_width / 2;
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for_each_tile<most_outputs>(conv.outputs, [&](std::int64_t o, auto outputs) {
      for (std::int64_t column = 0; column < width; ++column) {
        const float* const window = x + 2 * (row * padded_width(conv) + column) * lanes;
        const std::int64_t to = ((o * height + row) * width + column) * lanes;
        for_each_vector(active, [&](auto vector, std::int64_t lane) {
          convolve_pool_tile<decltype(vector), outputs>(
              conv, window + lane, weight + o * window_depth(conv), bias ? bias + o : nullptr,
              y + to + lane, winners + to + lane);
        });
      }
    });
}

}  // namespace

void convolve_pool(const LaneConvolution& conv, Part part, const float* x, const float* weight,
                   const float* bias, float* y, std::uint8_t* winners, float* workspace) {
  const std::int64_t blocks = blocks_of(conv.samples);
  const std::int64_t height = conv.out_height / 2, width = conv.out_width / 2;
  const Planes planes{conv.outputs, height * width, width};
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Part rows = every(part, blocks, block, height);
    const float* const from = x + block * conv.inputs * conv.height * conv.width * lanes;
    const std::int64_t to = block * conv.outputs * height * width * lanes;
    if (empty(rows)) continue;
    const std::int64_t active = active_lanes(conv.samples, block);
    convolve_pool_block(conv, rows, active, with_padding(conv, from, workspace), weight, bias,
                        y + to, winners + to);
    clear_rows(reached_lanes(active), rows, planes, y + to);
    clear_rows(reached_lanes(active), rows, planes, winners + to);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
