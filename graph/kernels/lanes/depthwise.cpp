#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/sums.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/lanes/workspace.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// The registers hold the sums of this many neighbouring pixels.
constexpr int most_columns = many_registers ? 8 : 6;
/// The registers hold the sums of the gradients of this many neighbouring weights.
constexpr int most_taps = 4;

/// A Taps says which weights of a kernel are summed, and how far apart the rows are from which they
/// read.
struct Taps {
  Part rows, columns;
  std::int64_t kernel_width, row_floats;
  const float* weight;
  /// If `last` is above 0, the weights are taken backwards: the first tap has number `last`.
  std::int64_t last = 0;

  float at(std::int64_t row, std::int64_t column) const {
    const std::int64_t tap = row * kernel_width + column;
    return weight[last > 0 ? last - tap : tap];
  }
};

/// Computes `columns` neighbouring pixels of a row of results. The first tap of the first one reads
/// the pixel at `x`.
template <int columns>
[[gnu::always_inline]] inline void sum_pixels(const Taps& taps, const float* x, float start,
                                              float limit, float* y) {
  for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
    Vector sums[columns];
    unrolled<columns>([&](auto i) { sums[i] = broadcast(start); });
    for (std::int64_t row = taps.rows.begin; row < taps.rows.end; ++row)
      for (std::int64_t column = taps.columns.begin; column < taps.columns.end; ++column) {
        const float weight = taps.at(row, column);
        const float* const pixels = x + row * taps.row_floats + column * lanes + lane;
        unrolled<columns>([&](auto i) { sums[i] += weight * load(pixels + i * lanes); });
      }
    const Vector least = broadcast(limit);
    unrolled<columns>(
        [&](auto i) { store(y + i * lanes + lane, sums[i] < least ? least : sums[i]); });
  }
}

void sum_row(const Taps& taps, std::int64_t columns, const float* x, float start, float limit,
             float* y) {
  for_each_tile<most_columns>(columns, [&](std::int64_t first, auto size) {
    sum_pixels<size>(taps, x + first * lanes, start, limit, y + first * lanes);
  });
}

LaneConvolution one_channel(LaneConvolution conv) {
  conv.inputs = conv.outputs = 1;
  return conv;
}

/// Returns those positions of a window of `size` pixels that lie in a row of `length` pixels, if
/// the window begins at pixel `first`, which may be outside.
Part inside(std::int64_t first, std::int64_t size, std::int64_t length) {
  const std::int64_t begin = first < 0 ? -first : 0;
  const std::int64_t end = first + size > length ? length - first : size;
  return {begin, end < begin ? begin : end};
}

/// Returns which columns of the gradient of the input have whole windows in a row of `dy`. The
/// window of column 0 begins at column `left`, which is not above 0.
Part columns_of_whole_windows(const LaneConvolution& conv, std::int64_t left) {
  const Part columns = within({-left, conv.out_width - (conv.kernel_width - 1) - left}, conv.width);
  return {columns.begin, columns.end < columns.begin ? columns.begin : columns.end};
}

/// Computes one row of the gradient of a channel's input from those pixels of `dy` alone whose
/// windows it is in, so that no zero of the padding meets a weight that is infinite.
void gradient_of_row(const LaneConvolution& conv, std::int64_t row, const float* dy,
                     const float* weight, float* dx) {
  const std::int64_t top = row + conv.padding_height - (conv.kernel_height - 1);
  const std::int64_t left = conv.padding_width - (conv.kernel_width - 1);
  const float no_limit = -__builtin_inff();
  Taps taps{.rows = inside(top, conv.kernel_height, conv.out_height),
            .columns = {0, conv.kernel_width},
            .kernel_width = conv.kernel_width,
            .row_floats = conv.out_width * lanes,
            .weight = weight,
            .last = conv.kernel_height * conv.kernel_width - 1};
  const auto sum = [&](std::int64_t column, std::int64_t columns) {
    const float* const first = dy + (top * conv.out_width + left + column) * lanes;
    sum_row(taps, columns, first, 0, no_limit, dx + column * lanes);
  };
  const auto sum_beyond = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t column = begin; column < end; ++column) {
      taps.columns = inside(left + column, conv.kernel_width, conv.out_width);
      sum(column, 1);
    }
  };
  const Part whole = columns_of_whole_windows(conv, left);
  sum(whole.begin, whole.end - whole.begin);
  sum_beyond(0, whole.begin);
  sum_beyond(whole.end, conv.width);
}

/// Adds the products of one row of `dy` with the pixels that `taps` neighbouring taps read to the
/// sums of these taps, lane by lane.
template <int taps>
[[gnu::always_inline]] inline void add_row(std::int64_t columns, const float* dy, const float* x,
                                           float* sums) {
  for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
    Vector total[taps];
    unrolled<taps>([&](auto i) { total[i] = load(sums + i * lanes + lane); });
    for (std::int64_t column = 0; column < columns; ++column) {
      const Vector gradient = load(dy + column * lanes + lane);
      unrolled<taps>([&](auto i) { total[i] += gradient * load(x + (column + i) * lanes + lane); });
    }
    unrolled<taps>([&](auto i) { store(sums + i * lanes + lane, total[i]); });
  }
}

/// Adds the products of one plane of `dy` with the pixels of `x`, which has its border.
void add_plane(const LaneConvolution& conv, const float* dy, const float* x, float* sums) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  for (std::int64_t row = 0; row < conv.out_height; ++row, dy += conv.out_width * lanes)
    for (std::int64_t kh = 0; kh < conv.kernel_height; ++kh)
      for_each_tile<most_taps>(conv.kernel_width, [&](std::int64_t kw, auto taps) {
        add_row<taps>(conv.out_width, dy, x + (row + kh) * row_floats + kw * lanes,
                      sums + (kh * conv.kernel_width + kw) * lanes);
      });
}

}  // namespace

void convolve_depthwise(const LaneConvolution& conv, Part part, const float* x, const float* weight,
                        const float* bias, float* y, float* workspace) {
  const LaneConvolution one = one_channel(conv);
  const Part planes = within(part, blocks_of(conv.samples) * conv.inputs);
  Taps taps{.rows = {0, conv.kernel_height},
            .columns = {0, conv.kernel_width},
            .kernel_width = conv.kernel_width,
            .row_floats = padded_width(conv) * lanes,
            .weight = nullptr};
  for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const std::int64_t channel = plane % conv.inputs;
    const float* const from =
        with_padding(one, x + plane * conv.height * conv.width * lanes, workspace);
    taps.weight = weight + channel * conv.kernel_height * conv.kernel_width;
    for (std::int64_t row = 0; row < conv.out_height; ++row)
      sum_row(taps, conv.out_width, from + row * taps.row_floats, bias ? bias[channel] : 0.0f,
              conv.relu ? 0.0f : -__builtin_inff(),
              y + (plane * conv.out_height + row) * conv.out_width * lanes);
  }
}

void convolve_depthwise_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                                       const float* weight, float* dx) {
  const Part planes = within(part, blocks_of(conv.samples) * conv.inputs);
  for (std::int64_t plane = planes.begin; plane < planes.end; ++plane)
    for (std::int64_t row = 0; row < conv.height; ++row)
      gradient_of_row(conv, row, dy + plane * conv.out_height * conv.out_width * lanes,
                      weight + plane % conv.inputs * conv.kernel_height * conv.kernel_width,
                      dx + (plane * conv.height + row) * conv.width * lanes);
}

void convolve_depthwise_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                                        const float* dy, float* dweight, float* workspace) {
  const LaneConvolution one = one_channel(conv);
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  const Part channels = within(part, conv.inputs);
  float* const sums = workspace + depthwise_floats(conv);
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    __builtin_memset(sums, 0, sizeof(float) * static_cast<std::size_t>(cells * lanes));
    for (std::int64_t block = 0; block < blocks_of(conv.samples); ++block) {
      const std::int64_t plane = block * conv.inputs + channel;
      add_plane(conv, dy + plane * conv.out_height * conv.out_width * lanes,
                with_padding(one, x + plane * conv.height * conv.width * lanes, workspace), sums);
    }
    sum_lanes(cells, sums, dweight + channel * cells);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
