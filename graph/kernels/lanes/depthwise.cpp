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
/// read. `weight` is that of the first tap, and the weights of neighbouring taps are `row_step` and
/// `column_step` apart.
struct Taps {
  Part rows, columns;
  std::int64_t row_floats;
  const float* weight;
  std::int64_t row_step, column_step;

  float at(std::int64_t row, std::int64_t column) const {
    return weight[row * row_step + column * column_step];
  }
};

/// Computes `columns` pixels of a row of results, which are `apart` pixels apart. The first tap of
/// the first one reads the pixel at `x`, and that of the next one reads `stride` pixels further.
template <int columns, int stride, int apart>
[[gnu::always_inline]] inline void sum_pixels(const Taps& taps, const float* x, float start,
                                              float limit, float* y) {
  for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
    Vector sums[columns];
    unrolled<columns>([&](auto i) { sums[i] = broadcast(start); });
    for (std::int64_t row = taps.rows.begin; row < taps.rows.end; ++row)
      for (std::int64_t column = taps.columns.begin; column < taps.columns.end; ++column) {
        const float weight = taps.at(row, column);
        const float* const pixels = x + row * taps.row_floats + column * lanes + lane;
        unrolled<columns>([&](auto i) { sums[i] += weight * load(pixels + i * stride * lanes); });
      }
    const Vector least = broadcast(limit);
    unrolled<columns>(
        [&](auto i) { store(y + i * apart * lanes + lane, sums[i] < least ? least : sums[i]); });
  }
}

template <int stride, int apart>
void sum_row(const Taps& taps, std::int64_t columns, const float* x, float start, float limit,
             float* y) {
  for_each_tile<most_columns>(columns, [&](std::int64_t first, auto size) {
    sum_pixels<size, stride, apart>(taps, x + first * stride * lanes, start, limit,
                                    y + first * apart * lanes);
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

/// A pixel of the input is in the windows of some neighbouring pixels of `dy` along an axis.
/// BackwardTaps say where these begin, which may be outside, how many they are, and which tap the
/// first of them has on the pixel. The next of them has the tap that is a stride before that one.
struct BackwardTaps {
  std::int64_t begin, count, first;

  BackwardTaps(std::int64_t pixel, std::int64_t padding, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t edge = pixel + padding - (kernel - 1);
    const std::int64_t skipped = edge < 0 ? -edge % stride : (stride - edge % stride) % stride;
    begin = (edge + skipped) / stride;
    count = skipped < kernel ? (kernel - 1 - skipped) / stride + 1 : 0;
    first = count > 0 ? kernel - 1 - skipped : 0;
  }
};

/// Computes those pixels of one row of the gradient of a channel's input that are a stride apart,
/// from pixel `column` on, from those pixels of `dy` alone whose windows they are in, so that no
/// zero of the padding meets a weight that is infinite. The pixels of a row that are a stride apart
/// meet the same taps.
template <int stride>
void gradient_of_pixels(const LaneConvolution& conv, std::int64_t row, std::int64_t column,
                        const float* dy, const float* weight, float* dx) {
  const BackwardTaps down(row, conv.padding_height, conv.kernel_height, conv.stride_height);
  const BackwardTaps along(column, conv.padding_width, conv.kernel_width, stride);
  const std::int64_t count = (conv.width - column + stride - 1) / stride;
  const float no_limit = -__builtin_inff();
  Taps taps{.rows = inside(down.begin, down.count, conv.out_height),
            .columns = {0, along.count},
            .row_floats = conv.out_width * lanes,
            .weight = weight + down.first * conv.kernel_width + along.first,
            .row_step = -conv.stride_height * conv.kernel_width,
            .column_step = -stride};
  const auto sum = [&](std::int64_t at, std::int64_t columns) {
    const float* const first = dy + (down.begin * conv.out_width + along.begin + at) * lanes;
    sum_row<1, stride>(taps, columns, first, 0, no_limit, dx + (column + at * stride) * lanes);
  };
  const auto sum_beyond = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      taps.columns = inside(along.begin + at, along.count, conv.out_width);
      sum(at, 1);
    }
  };
  // These pixels are in as many windows as the kernel allows.
  Part whole = within(
      {along.begin < 0 ? -along.begin : 0, conv.out_width - along.count + 1 - along.begin}, count);
  if (whole.end < whole.begin) whole.end = whole.begin;
  sum(whole.begin, whole.end - whole.begin);
  sum_beyond(0, whole.begin);
  sum_beyond(whole.end, count);
}

/// Adds the products of one row of `dy` with the pixels that `taps` neighbouring taps read to the
/// sums of these taps, lane by lane.
template <int taps, int stride>
[[gnu::always_inline]] inline void add_row(std::int64_t columns, const float* dy, const float* x,
                                           float* sums) {
  for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
    Vector total[taps];
    unrolled<taps>([&](auto i) { total[i] = load(sums + i * lanes + lane); });
    for (std::int64_t column = 0; column < columns; ++column) {
      const Vector gradient = load(dy + column * lanes + lane);
      unrolled<taps>(
          [&](auto i) { total[i] += gradient * load(x + (column * stride + i) * lanes + lane); });
    }
    unrolled<taps>([&](auto i) { store(sums + i * lanes + lane, total[i]); });
  }
}

/// Adds the products of one plane of `dy` with the pixels of `x`, which has its border.
template <int stride>
void add_plane(const LaneConvolution& conv, const float* dy, const float* x, float* sums) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  for (std::int64_t row = 0; row < conv.out_height; ++row, dy += conv.out_width * lanes)
    for (std::int64_t kh = 0; kh < conv.kernel_height; ++kh)
      for_each_tile<most_taps>(conv.kernel_width, [&](std::int64_t kw, auto taps) {
        add_row<taps, stride>(conv.out_width, dy,
                              x + (row * conv.stride_height + kh) * row_floats + kw * lanes,
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
            .row_floats = padded_width(conv) * lanes,
            .weight = nullptr,
            .row_step = conv.kernel_width,
            .column_step = 1};
  for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const std::int64_t channel = plane % conv.inputs;
    const float* const from =
        with_padding(one, x + plane * conv.height * conv.width * lanes, workspace);
    taps.weight = weight + channel * conv.kernel_height * conv.kernel_width;
    with_constant<2>(conv.stride_width, [&](auto stride) {
      for (std::int64_t row = 0; row < conv.out_height; ++row)
        sum_row<stride, 1>(taps, conv.out_width, from + row * conv.stride_height * taps.row_floats,
                           bias ? bias[channel] : 0.0f, conv.relu ? 0.0f : -__builtin_inff(),
                           y + (plane * conv.out_height + row) * conv.out_width * lanes);
    });
  }
}

void convolve_depthwise_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                                       const float* weight, float* dx) {
  const Part planes = within(part, blocks_of(conv.samples) * conv.inputs);
  with_constant<2>(conv.stride_width, [&](auto stride) {
    for (std::int64_t plane = planes.begin; plane < planes.end; ++plane)
      for (std::int64_t row = 0; row < conv.height; ++row)
        for (std::int64_t column = 0; column < stride && column < conv.width; ++column)
          gradient_of_pixels<stride>(
              conv, row, column, dy + plane * conv.out_height * conv.out_width * lanes,
              weight + plane % conv.inputs * conv.kernel_height * conv.kernel_width,
              dx + (plane * conv.height + row) * conv.width * lanes);
  });
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
      const float* const from =
          with_padding(one, x + plane * conv.height * conv.width * lanes, workspace);
      with_constant<2>(conv.stride_width, [&](auto stride) {
        add_plane<stride>(conv, dy + plane * conv.out_height * conv.out_width * lanes, from, sums);
      });
    }
    sum_lanes(cells, sums, dweight + channel * cells);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
