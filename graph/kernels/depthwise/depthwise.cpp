#include "graph/kernels/depthwise/depthwise.hpp"

#include "graph/kernels/depthwise/by_channels.hpp"
#include "graph/kernels/depthwise/workspace.hpp"
#include "graph/kernels/vectors/finish.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// So many vectors of results are computed at a time, so that a broadcast weight serves them all.
constexpr int most_vectors = many_registers ? 8 : 4;
/// So many taps of a weight's gradient are summed at a time.
constexpr int most_taps = many_registers ? 12 : 6;

void clear(std::int64_t count, float* values) {
  __builtin_memset(values, 0, sizeof(float) * static_cast<std::size_t>(count));
}

/// A Taps has the weights of one kernel, and how far apart in a plane their pixels are. If
/// `reversed` is true, the last weight is that of the first pixel.
struct Taps {
  std::int64_t rows, columns, row_step, column_step;
  const float* weight;
  bool reversed = false;

  float at(std::int64_t row, std::int64_t column) const {
    const std::int64_t tap = row * columns + column;
    return weight[reversed ? rows * columns - 1 - tap : tap];
  }
};

template <int vectors>
[[gnu::always_inline]] inline void sum_vectors(const Taps& taps, const float* from, float start,
                                               float* to) {
  Vector sums[vectors];
  unrolled<vectors>([&](auto i) { sums[i] = broadcast(start); });
  for (std::int64_t row = 0; row < taps.rows; ++row)
    for (std::int64_t column = 0; column < taps.columns; ++column) {
      const float weight = taps.at(row, column);
      const float* const pixels = from + row * taps.row_step + column * taps.column_step;
      unrolled<vectors>([&](auto i) { sums[i] += weight * load(pixels + i * vector_size); });
    }
  unrolled<vectors>([&](auto i) { store(to + i * vector_size, sums[i]); });
}

/// Computes `count` neighbouring results, and up to a vector of others behind them.
void sum_run(const Taps& taps, std::int64_t count, const float* from, float start, float* to) {
  std::int64_t i = 0;
  for (; count - i >= most_vectors * vector_size; i += most_vectors * vector_size)
    sum_vectors<most_vectors>(taps, from + i, start, to + i);
  for (; i < count; i += vector_size) sum_vectors<1>(taps, from + i, start, to + i);
}

/// Copies the rows of an image into the plane with its padding.
void pad(const DepthwiseConvolution& conv, std::int64_t pitch, const float* image, float* plane) {
  for (std::int64_t row = 0; row < conv.height; ++row)
    __builtin_memcpy(plane + (row + conv.padding_height) * pitch + conv.padding_width,
                     image + row * conv.width,
                     sizeof(float) * static_cast<std::size_t>(conv.width));
}

/// Calls `take(result)` for every `stride`-th result, and writes what it returns, clamped, to a row
/// of the output.
template <class Take>
[[gnu::always_inline]] inline void take_each(const DepthwiseConvolution& conv, const float* results,
                                             float* y, Take take) {
  const Epilogue epilogue = before_addend(conv.epilogue);
  for_each_element(conv.out_width, [=, low = epilogue.low, high = epilogue.high,
                                    stride = conv.stride_width](std::int64_t column) {
    y[column] = clamped(take(results[column * stride]), low, high);
  });
}

/// Writes a row of the output of channel `channel`.
void take_row(const DepthwiseConvolution& conv, std::int64_t channel, const float* results,
              float* y) {
  const Epilogue& epilogue = conv.epilogue;
  if (!epilogue.mean) return take_each(conv, results, y, [](float result) { return result; });
  const float mean = epilogue.mean[channel], factor = epilogue.factor[channel];
  take_each(conv, results, y, [=, shift = epilogue.shift[channel]](float result) {
    return multiply_add(result - mean, factor, shift);
  });
}

void convolve(const DepthwiseConvolution& conv, Part part, const float* x, const float* weight,
              const float* bias, float* y, float* workspace) {
  if (convolves_by_channels(conv))
    return convolve_by_channels(conv, part, x, weight, bias, y, workspace);
  const DepthwiseWorkspace at = depthwise_workspace(conv);
  const Part planes = within(part, conv.samples * conv.channels);
  float* const results = workspace + at.results;
  clear(at.results, workspace);
  Taps taps{conv.kernel_height, conv.kernel_width, conv.dilation_height * at.pitch,
            conv.dilation_width, nullptr};
  for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const std::int64_t channel = plane % conv.channels;
    taps.weight = weight + channel * conv.kernel_height * conv.kernel_width;
    const float start = bias ? bias[channel] : 0.0f;
    float* const output = y + plane * conv.out_height * conv.out_width;
    pad(conv, at.pitch, x + plane * conv.height * conv.width, workspace);
    const bool at_once = conv.stride_height == 1;
    if (at_once) sum_run(taps, at.run, workspace, start, results);
    for (std::int64_t row = 0; row < conv.out_height; ++row) {
      if (!at_once)
        sum_run(taps, at.run, workspace + row * conv.stride_height * at.pitch, start, results);
      take_row(conv, channel, at_once ? results + row * at.pitch : results,
               output + row * conv.out_width);
    }
    add_addend(conv.epilogue, conv.out_height * conv.out_width, y, output);
  }
}

bool all_finite(std::int64_t count, const float* values) {
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= values[i] - values[i] == 0;
  return finite;
}

/// Computes one pixel of dx from those pixels of dy alone whose windows it is in.
float gradient_of_pixel(const DepthwiseConvolution& conv, std::int64_t row, std::int64_t column,
                        const float* dy, const float* weight) {
  float sum = 0;
  for (std::int64_t kh = conv.kernel_height - 1; kh >= 0; --kh)
    for (std::int64_t kw = conv.kernel_width - 1; kw >= 0; --kw) {
      const std::int64_t h = row + conv.padding_height - kh * conv.dilation_height;
      const std::int64_t w = column + conv.padding_width - kw * conv.dilation_width;
      if (h < 0 || w < 0 || h % conv.stride_height != 0 || w % conv.stride_width != 0) continue;
      const std::int64_t out_row = h / conv.stride_height, out_column = w / conv.stride_width;
      if (out_row >= conv.out_height || out_column >= conv.out_width) continue;
      sum += weight[kh * conv.kernel_width + kw] * dy[out_row * conv.out_width + out_column];
    }
  return sum;
}

/// Puts the pixels of `dy` into a plane of zeros whose rows are `pitch` floats apart. Pixel 0 is at
/// row `top` and column `left`, and pixels outside of `rows` rows and `columns` columns are left
/// out.
void spread(const DepthwiseConvolution& conv, std::int64_t top, std::int64_t left,
            std::int64_t rows, std::int64_t columns, std::int64_t pitch, const float* dy,
            float* plane) {
  for (std::int64_t row = 0; row < conv.out_height; ++row) {
    const std::int64_t to = top + row * conv.stride_height;
    if (to < 0 || to >= rows) continue;
    for (std::int64_t column = 0; column < conv.out_width; ++column) {
      const std::int64_t at = left + column * conv.stride_width;
      if (at >= 0 && at < columns) plane[to * pitch + at] = dy[row * conv.out_width + column];
    }
  }
}

void convolve_input_gradient(const DepthwiseConvolution& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace) {
  if (convolves_by_channels(conv))
    return input_gradient_by_channels(conv, part, dy, weight, dx, workspace);
  const DepthwiseWorkspace at = depthwise_input_gradient_workspace(conv);
  const Part planes = within(part, conv.samples * conv.channels);
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  const std::int64_t top = at.rows - conv.height - conv.padding_height;
  const std::int64_t left = at.pitch - conv.width - conv.padding_width;
  float* const results = workspace + at.results;
  clear(at.results, workspace);
  Taps taps{conv.kernel_height,  conv.kernel_width, conv.dilation_height * at.pitch,
            conv.dilation_width, nullptr,           true};
  for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const float* const gradients = dy + plane * conv.out_height * conv.out_width;
    float* const image = dx + plane * conv.height * conv.width;
    taps.weight = weight + plane % conv.channels * cells;
    spread(conv, top, left, at.rows, at.pitch, at.pitch, gradients, workspace);
    sum_run(taps, at.run, workspace, 0, results);
    // The zeros between and around the pixels make a NaN with a weight that is not finite.
    const bool exact = all_finite(cells, taps.weight);
    for (std::int64_t row = 0; row < conv.height; ++row)
      for (std::int64_t column = 0; column < conv.width; ++column)
        image[row * conv.width + column] =
            exact ? results[row * at.pitch + column]
                  : gradient_of_pixel(conv, row, column, gradients, taps.weight);
  }
}

/// Adds to `sums` [taps,vector_size] the products of `gradients` with the pixels that each of
/// `taps` taps reads. The pixels of tap i begin at pixels[i].
template <int taps>
[[gnu::always_inline]] inline void add_products(std::int64_t count, const float* gradients,
                                                const float* const* pixels, float* sums) {
  Vector total[taps];
  unrolled<taps>([&](auto i) { total[i] = load(sums + i * vector_size); });
  for (std::int64_t at = 0; at < count; at += vector_size) {
    const Vector gradient = load(gradients + at);
    unrolled<taps>([&](auto i) { total[i] += gradient * load(pixels[i] + at); });
  }
  unrolled<taps>([&](auto i) { store(sums + i * vector_size, total[i]); });
}

/// Adds to `sums` [cells,vector_size] the products of one plane.
void add_plane(const DepthwiseConvolution& conv, const DepthwiseWorkspace& at, const float* plane,
               const float* gradients, float* sums) {
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  const auto pixels_of = [&](std::int64_t tap) {
    return plane + tap / conv.kernel_width * conv.dilation_height * at.pitch +
           tap % conv.kernel_width * conv.dilation_width;
  };
  std::int64_t tap = 0;
  for (; cells - tap >= most_taps; tap += most_taps) {
    const float* pixels[most_taps];
    unrolled<most_taps>([&](auto i) { pixels[i] = pixels_of(tap + i); });
    add_products<most_taps>(at.run, gradients, pixels, sums + tap * vector_size);
  }
  for (; cells - tap >= 3; tap += 3) {
    const float* pixels[]{pixels_of(tap), pixels_of(tap + 1), pixels_of(tap + 2)};
    add_products<3>(at.run, gradients, pixels, sums + tap * vector_size);
  }
  for (; tap < cells; ++tap) {
    const float* pixels[]{pixels_of(tap)};
    add_products<1>(at.run, gradients, pixels, sums + tap * vector_size);
  }
}

/// Computes the gradient of one weight from those pixels alone that its tap reads.
float gradient_of_weight(const DepthwiseConvolution& conv, std::int64_t channel, std::int64_t tap,
                         const float* x, const float* dy) {
  const std::int64_t up = tap / conv.kernel_width * conv.dilation_height - conv.padding_height;
  const std::int64_t left = tap % conv.kernel_width * conv.dilation_width - conv.padding_width;
  float sum = 0;
  for (std::int64_t sample = 0; sample < conv.samples; ++sample) {
    const std::int64_t plane = sample * conv.channels + channel;
    const float* const image = x + plane * conv.height * conv.width;
    const float* const gradients = dy + plane * conv.out_height * conv.out_width;
    for (std::int64_t row = 0; row < conv.out_height; ++row)
      for (std::int64_t column = 0; column < conv.out_width; ++column) {
        const std::int64_t h = row * conv.stride_height + up;
        const std::int64_t w = column * conv.stride_width + left;
        // Padding counts as zeros, which make a NaN of a gradient that is not finite.
        const bool inside = h >= 0 && h < conv.height && w >= 0 && w < conv.width;
        sum += gradients[row * conv.out_width + column] * (inside ? image[h * conv.width + w] : 0);
      }
  }
  return sum;
}

void convolve_weight_gradient(const DepthwiseConvolution& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace) {
  if (convolves_by_channels(conv))
    return weight_gradient_by_channels(conv, part, x, dy, dweight, workspace);
  const DepthwiseWorkspace at = depthwise_weight_gradient_workspace(conv);
  const Part channels = within(part, conv.channels);
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  float *const gradients = workspace + at.results, *const sums = workspace + at.sums;
  clear(at.sums, workspace);
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    clear(cells * vector_size, sums);
    for (std::int64_t sample = 0; sample < conv.samples; ++sample) {
      const std::int64_t plane = sample * conv.channels + channel;
      pad(conv, at.pitch, x + plane * conv.height * conv.width, workspace);
      spread(conv, 0, 0, at.rows, at.pitch, at.pitch, dy + plane * conv.out_height * conv.out_width,
             gradients);
      add_plane(conv, at, workspace, gradients, sums);
    }
    for (std::int64_t tap = 0; tap < cells; ++tap) {
      float sum = 0;
      for (int lane = 0; lane < vector_size; ++lane) sum += sums[tap * vector_size + lane];
      // The zeros between the gradients make a NaN with a pixel that is not finite.
      dweight[channel * cells + tap] =
          sum == sum ? sum : gradient_of_weight(conv, channel, tap, x, dy);
    }
  }
}

}  // namespace

extern const DepthwiseKernels depthwise_kernels;
const DepthwiseKernels depthwise_kernels{.convolve = convolve,
                                         .convolve_input_gradient = convolve_input_gradient,
                                         .convolve_weight_gradient = convolve_weight_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
