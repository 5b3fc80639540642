// These are the innermost loops of a convolution in the batch-lane layout. The build compiles them
// once per instruction set.
#pragma once

#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// The registers hold the sums of this many output channels at four pixels each.
inline constexpr int most_outputs = many_registers ? 5 : 3;

/// Returns how many products are summed for each element of an output channel.
inline std::int64_t window_depth(const LaneConvolution& conv) {
  return conv.inputs * conv.kernel_height * conv.kernel_width;
}

/// Adds to `sums` the convolution at rows * columns neighbouring pixels of `outputs` neighbouring
/// output channels, without the bias. The sums stay in registers while the window moves over the
/// channels, rows and columns of the kernel. `x` has its border and points to the first pixel of
/// the first window.
template <class V, int outputs, int rows, int columns>
[[gnu::always_inline]] inline void add_windows(const LaneConvolution& conv, const float* x,
                                               const float* weight,
                                               V (&sums)[outputs][rows * columns]) {
  const std::int64_t depth = window_depth(conv);
  const std::int64_t row_floats = padded_width(conv) * lanes;
  for (std::int64_t c = 0; c < conv.inputs; ++c, x += padded_height(conv) * row_floats)
    for (std::int64_t kh = 0; kh < conv.kernel_height; ++kh)
      for (std::int64_t kw = 0; kw < conv.kernel_width; ++kw, ++weight) {
        const float* const pixels = x + kh * row_floats + kw * lanes;
        unrolled<rows * columns>([&](auto i) {
          const V pixel = load<V>(pixels + i / columns * row_floats + i % columns * lanes);
          unrolled<outputs>([&](auto o) { sums[o][i] += weight[o * depth] * pixel; });
        });
      }
}

/// Sets the sums of every pixel to the bias of each output channel, or to zero if `bias` is null.
template <class V, int outputs, int pixels>
[[gnu::always_inline]] inline void start_with_bias(const float* bias, V (&sums)[outputs][pixels]) {
  unrolled<outputs>([&](auto o) {
    const V start = bias ? broadcast<V>(bias[o]) : V{};
    unrolled<pixels>([&](auto i) { sums[o][i] = start; });
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
