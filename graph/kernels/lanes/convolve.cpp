#include "graph/kernels/lanes/convolve.hpp"

#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_outputs = many_registers ? 5 : 3;
constexpr int most_columns = 4;

/// Neighbouring output pixels of neighbouring channels: their sums are in registers while the
/// window moves over channels, rows and columns.
template <int outputs, int columns>
void convolve_tile(const LaneConvolution& conv, const float* x, const float* weight,
                   const float* bias, float* y) {
  const std::int64_t depth = conv.inputs * conv.kernel_height * conv.kernel_width;
  const std::int64_t width = padded_width(conv);
  Vector sums[outputs][columns];
  unrolled<outputs>([&](auto o) {
    const Vector start = bias ? broadcast(bias[o]) : Vector{};
    unrolled<columns>([&](auto column) { sums[o][column] = start; });
  });
  for (std::int64_t c = 0; c < conv.inputs; ++c, x += padded_height(conv) * width * lanes)
    for (std::int64_t kh = 0; kh < conv.kernel_height; ++kh)
      for (std::int64_t kw = 0; kw < conv.kernel_width; ++kw, ++weight) {
        const float* const pixels = x + (kh * width + kw) * lanes;
        unrolled<columns>([&](auto column) {
          const Vector pixel = load(pixels + column * lanes);
          unrolled<outputs>([&](auto o) { sums[o][column] += weight[o * depth] * pixel; });
        });
      }
  unrolled<outputs>([&](auto o) {
    unrolled<columns>([&](auto column) {
      store(y + (o * conv.out_height * conv.out_width + column) * lanes, sums[o][column]);
    });
  });
}

/// Block x [C,H,W,16] with its border -> y [O,OH,OW,16].
void convolve_block(const LaneConvolution& conv, const float* x, const float* weight,
                    const float* bias, float* y) {
  const std::int64_t depth = conv.inputs * conv.kernel_height * conv.kernel_width;
  for (std::int64_t row = 0; row < conv.out_height; ++row)
    for_each_tile<most_outputs>(conv.outputs, [&](std::int64_t o, auto outputs) {
      for_each_tile<most_columns>(conv.out_width, [&](std::int64_t column, auto columns) {
        const float* const window = x + (row * padded_width(conv) + column) * lanes;
        float* const to = y + ((o * conv.out_height + row) * conv.out_width + column) * lanes;
        for (int lane = 0; lane < lanes; lane += vector_size)
          convolve_tile<outputs, columns>(conv, window + lane, weight + o * depth,
                                          bias ? bias + o : nullptr, to + lane);
      });
    });
}

}  // namespace

void convolve(const LaneConvolution& conv, const float* x, const float* weight, const float* bias,
              float* y, float* workspace) {
  for (std::int64_t block = 0; block < conv.blocks; ++block) {
    convolve_block(conv, with_padding(conv, x, workspace), weight, bias, y);
    x += conv.inputs * conv.height * conv.width * lanes;
    y += conv.outputs * conv.out_height * conv.out_width * lanes;
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
