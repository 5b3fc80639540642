#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/sums.hpp"
#include "graph/kernels/lanes/window_sums.hpp"
#include "graph/kernels/lanes/workspace.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_taps = many_registers ? 5 : 4;

/// Steps lead through the pixels of two rows of an image, column by column: down to the second row,
/// then up to the next column, and so on. If there is one row, they lead along that row.
class Steps {
 public:
  Steps(std::int64_t rows, std::int64_t row_floats)
      : next_(rows == 2 ? row_floats : lanes), both_(rows == 2 ? lanes : 2 * lanes) {}

  /// Returns the distance in floats from this pixel to the next pixel, and goes on to the next
  /// pixel.
  [[gnu::always_inline]] std::int64_t next() {
    const std::int64_t step = next_;
    next_ = both_ - step;
    return step;
  }

 private:
  std::int64_t next_, both_;
};

/// Adds to `dweight` the contribution of all pixels of a block of samples, for `taps` neighbouring
/// columns of one row of the kernel, `outputs` neighbouring output channels and one input channel.
template <class V, int outputs, int taps>
[[gnu::noinline]] void weight_tile(const LaneConvolution& conv, const float* x, const float* dy,
                                   float* dweight) {
  const std::int64_t depth = window_depth(conv) * lanes;
  V sums[outputs][taps];
  unrolled<outputs>([&](auto o) {
    unrolled<taps>([&](auto tap) { sums[o][tap] = load<V>(dweight + o * depth + tap * lanes); });
  });
  const std::int64_t plane = conv.out_height * conv.out_width * lanes;
  const std::int64_t x_row = padded_width(conv) * lanes, dy_row = conv.out_width * lanes;
  for (std::int64_t row = 0; row < conv.out_height; row += 2) {
    const std::int64_t rows = row + 1 < conv.out_height ? 2 : 1;
    const float *pixels = x + row * x_row, *gradients = dy + row * dy_row;
    Steps x_steps(rows, x_row), dy_steps(rows, dy_row);
    for (std::int64_t i = 0; i < rows * conv.out_width; ++i) {
      unrolled<taps>([&](auto tap) {
        const V pixel = load<V>(pixels + tap * lanes);
        unrolled<outputs>([&](auto o) { sums[o][tap] += load<V>(gradients + o * plane) * pixel; });
      });
      pixels += x_steps.next();
      gradients += dy_steps.next();
    }
  }
  unrolled<outputs>([&](auto o) {
    unrolled<taps>([&](auto tap) { store(dweight + o * depth + tap * lanes, sums[o][tap]); });
  });
}

/// Adds to `dweight` the contribution of all pixels of a block of samples, for one row of the
/// kernel, `outputs` neighbouring output channels and one input channel.
template <int outputs>
void weight_row(const LaneConvolution& conv, std::int64_t active, const float* x, const float* dy,
                float* dweight) {
  for_each_tile<most_taps>(conv.kernel_width, [&](std::int64_t tap, auto taps) {
    for_each_vector(active, [&](auto vector, std::int64_t lane) {
      weight_tile<decltype(vector), outputs, taps>(conv, x + tap * lanes + lane, dy + lane,
                                                   dweight + tap * lanes + lane);
    });
  });
}

/// Adds to `dweight` [O,C,kh,kw,16] the contribution of a block of samples, for some output
/// channels.
void weight_block(const LaneConvolution& conv, Part part, std::int64_t active, const float* x,
                  const float* dy, float* dweight) {
  const std::int64_t width = padded_width(conv), plane = padded_height(conv) * width;
  for_each_tile<most_outputs>(part.end - part.begin, [&](std::int64_t first, auto outputs) {
    const std::int64_t o = part.begin + first;
    const float* const gradients = dy + o * conv.out_height * conv.out_width * lanes;
    for (std::int64_t c = 0; c < conv.inputs; ++c)
      for (std::int64_t kh = 0; kh < conv.kernel_height; ++kh)
        weight_row<outputs>(conv, active, x + (c * plane + kh * width) * lanes, gradients,
                            dweight + ((o * conv.inputs + c) * conv.kernel_height + kh) *
                                          conv.kernel_width * lanes);
  });
}

}  // namespace

void convolve_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace) {
  const Part outputs = within(part, conv.outputs);
  const LaneWeightGradientWorkspace regions = weight_gradient_workspace(conv);
  const std::int64_t first = outputs.begin * window_depth(conv);
  const std::int64_t count = (outputs.end - outputs.begin) * window_depth(conv);
  float* const sums = workspace + regions.sums;
  float* const padded = workspace + regions.padded;
  __builtin_memset(sums + first * lanes, 0,
                   sizeof(float) * static_cast<std::size_t>(count * lanes));
  for (std::int64_t block = 0; block * lanes < conv.samples; ++block) {
    weight_block(conv, outputs, active_lanes(conv.samples, block), with_padding(conv, x, padded),
                 dy, sums);
    x += conv.inputs * conv.height * conv.width * lanes;
    dy += conv.outputs * conv.out_height * conv.out_width * lanes;
  }
  sum_lanes(count, sums + first * lanes, dweight + first);
}

}  // namespace penstock::graph::PENSTOCK_ISA
