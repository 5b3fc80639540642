#include "graph/kernels/lanes/convolve.hpp"

#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_columns = 4;

/// Computes `columns` neighbouring pixels of a row, in each of `outputs` neighbouring output
/// channels.
template <class V, int outputs, int columns>
[[gnu::noinline]] void convolve_tile(const LaneConvolution& conv, const float* x,
                                     const float* weight, const float* bias, float* y) {
  V sums[outputs][columns];
  start_with_bias(bias, sums);
  add_windows<V, outputs, 1, columns>(conv, x, weight, sums);
  const V limit = broadcast<V>(conv.relu ? 0.0f : -__builtin_inff());
  unrolled<outputs>([&](auto o) {
    unrolled<columns>([&](auto column) {
      const V sum = sums[o][column];
      store(y + (o * conv.out_height * conv.out_width + column) * lanes, sum < limit ? limit : sum);
    });
  });
}

/// Computes the rows `rows` of `y` [O,OH,OW,16] from one block of samples `x` [C,H,W,16] with its
/// border.
void convolve_block(const LaneConvolution& conv, Part rows, std::int64_t active, const float* x,
                    const float* weight, const float* bias, float* y) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for_each_tile<most_outputs>(conv.outputs, [&](std::int64_t o, auto outputs) {
      for_each_tile<most_columns>(conv.out_width, [&](std::int64_t column, auto columns) {
        const float* const window = x + (row * padded_width(conv) + column) * lanes;
        float* const to = y + ((o * conv.out_height + row) * conv.out_width + column) * lanes;
        for_each_vector(active, [&](auto vector, std::int64_t lane) {
          convolve_tile<decltype(vector), outputs, columns>(conv, window + lane,
                                                            weight + o * window_depth(conv),
                                                            bias ? bias + o : nullptr, to + lane);
        });
      });
    });
}

}  // namespace

void convolve(const LaneConvolution& conv, Part part, const float* x, const float* weight,
              const float* bias, float* y, float* workspace) {
  const std::int64_t blocks = blocks_of(conv.samples);
  const std::int64_t plane = conv.out_height * conv.out_width;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Part rows = every(part, blocks, block, conv.out_height);
    const float* const from = x + block * conv.inputs * conv.height * conv.width * lanes;
    float* const to = y + block * conv.outputs * plane * lanes;
    if (empty(rows)) continue;
    const std::int64_t active = active_lanes(conv.samples, block);
    convolve_block(conv, rows, active, with_padding(conv, from, workspace), weight, bias, to);
    clear_rows(reached_lanes(active), rows, {conv.outputs, plane, conv.out_width}, to);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
