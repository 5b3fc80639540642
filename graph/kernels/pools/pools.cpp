#include "graph/kernels/pools/pools.hpp"

#include <type_traits>

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

void fill(std::int64_t count, float value, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = value; });
}

/// A Range is the outputs [begin, end) along one axis whose windows have a pixel of the image, not
/// padding, at one position of the window.
struct Range {
  std::int64_t begin, end;

  /// Finds the range for a window position at which output i reads pixel first + i·stride. The axis
  /// has `outputs` outputs, and its pixels are numbered from 0 to size - 1.
  Range(std::int64_t first, std::int64_t stride, std::int64_t size, std::int64_t outputs) {
    begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    if (begin > outputs) begin = outputs;
    end = first >= size ? 0 : (size - 1 - first) / stride + 1;
    if (end > outputs) end = outputs;
    if (end < begin) end = begin;
  }
};

/// Returns the index in a plane of the pixel that output (row,column) reads at position (kh,kw) of
/// its window.
std::int64_t pixel_of(const Pooling& pool, std::int64_t kh, std::int64_t kw, std::int64_t row,
                      std::int64_t column) {
  return (row * pool.stride_height - pool.padding_height + kh * pool.dilation_height) * pool.width +
         column * pool.stride_width - pool.padding_width + kw * pool.dilation_width;
}

/// Calls `work(position, pixels, outputs, count)` for every position of the window and every row of
/// outputs. Of a row, it gives only the outputs that read a pixel of the image, not padding, at
/// this position. There are `count` of them; the first is at offset `outputs` in its plane and
/// reads the pixel at offset `pixels`.
template <class Work>
void for_each_row(const Pooling& pool, Work work) {
  for (std::int64_t kh = 0; kh < pool.kernel_height; ++kh)
    for (std::int64_t kw = 0; kw < pool.kernel_width; ++kw) {
      const Range rows(kh * pool.dilation_height - pool.padding_height, pool.stride_height,
                       pool.height, pool.out_height);
      const Range columns(kw * pool.dilation_width - pool.padding_width, pool.stride_width,
                          pool.width, pool.out_width);
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        work(kh * pool.kernel_width + kw, pixel_of(pool, kh, kw, row, columns.begin),
             row * pool.out_width + columns.begin, columns.end - columns.begin);
    }
}

/// Calls `work` with the stride. The strides 1 and 2 are constants of the compiler, which make
/// loops faster.
template <class Work>
void with_stride(std::int64_t stride, Work work) {
  if (stride == 1)
    work(std::integral_constant<std::int64_t, 1>());
  else if (stride == 2)
    work(std::integral_constant<std::int64_t, 2>());
  else
    work(stride);
}

/// Calls `work(image, output, stride)` for each plane. `image` is the offset where the plane begins
/// in the larger tensor, before the pooling, and `output` is the offset where it begins in the
/// pooled one.
template <class Work>
void for_each_plane(const Pooling& pool, Work work) {
  with_stride(pool.stride_width, [&](auto stride) {
    for (std::int64_t plane = 0; plane < pool.planes; ++plane)
      work(plane * pool.height * pool.width, plane * pool.out_height * pool.out_width, stride);
  });
}

/// Returns the first position of a window along one axis that is not in the padding. The window
/// begins `outside` pixels before the image, or inside of it if `outside` is not above 0.
std::int64_t first_inside(std::int64_t outside, std::int64_t dilation) {
  return outside > 0 ? (outside + dilation - 1) / dilation : 0;
}

/// Sets every output of a plane to -inf, and its winner to the first window position that is not in
/// the padding. This winner stays if no pixel is larger than -inf.
void start_plane(const Pooling& pool, float* y, float* winners) {
  fill(pool.out_height * pool.out_width, -__builtin_inff(), y);
  for (std::int64_t row = 0; row < pool.out_height; ++row) {
    const std::int64_t above = pool.padding_height - row * pool.stride_height;
    const std::int64_t line = first_inside(above, pool.dilation_height) * pool.kernel_width;
    for (std::int64_t column = 0; column < pool.out_width; ++column) {
      const std::int64_t left = pool.padding_width - column * pool.stride_width;
      winners[row * pool.out_width + column] =
          static_cast<float>(line + first_inside(left, pool.dilation_width));
    }
  }
}

void maximum(const Pooling& pool, const float* x, float* y, float* winners) {
  for_each_plane(pool, [&](std::int64_t image, std::int64_t output, auto stride) {
    start_plane(pool, y + output, winners + output);
    for_each_row(pool, [&](std::int64_t position, std::int64_t pixels, std::int64_t outputs,
                           std::int64_t count) {
      const auto here = static_cast<float>(position);
      const float* const from = x + image + pixels;
      float *const best = y + output + outputs, *const winner = winners + output + outputs;
      for_each_element(count, [=](std::int64_t i) {
        const float pixel = from[i * stride];
        const bool wins = pixel > best[i] || pixel != pixel;
        best[i] = wins ? pixel : best[i];
        winner[i] = wins ? here : winner[i];
      });
    });
  });
}

void maximum_gradient(const Pooling& pool, const float* winners, const float* dy, float* dx) {
  fill(pool.planes * pool.height * pool.width, 0, dx);
  const auto width = static_cast<std::int32_t>(pool.kernel_width);
  for (std::int64_t line = 0; line < pool.planes * pool.out_height; ++line) {
    const std::int64_t row = line % pool.out_height;
    float* const plane = dx + line / pool.out_height * pool.height * pool.width;
    for (std::int64_t column = 0; column < pool.out_width; ++column, ++winners, ++dy) {
      const auto winner = static_cast<std::int32_t>(*winners);
      plane[pixel_of(pool, winner / width, winner % width, row, column)] += *dy;
    }
  }
}

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
std::int64_t larger(std::int64_t a, std::int64_t b) {
  return a < b ? b : a;
}

/// Returns how many positions of window number `out` along one axis an average counts: those in the
/// image and, if it counts the padding, those in the padding.
std::int64_t counted(std::int64_t out, std::int64_t stride, std::int64_t kernel,
                     std::int64_t padding, std::int64_t size, bool counts_padding) {
  const std::int64_t begin = out * stride - padding;
  const std::int64_t around = counts_padding ? padding : 0;
  return smaller(begin + kernel, size + around) - larger(begin, -around);
}

std::int64_t counted_rows(const Pooling& pool, std::int64_t row) {
  return counted(row, pool.stride_height, pool.kernel_height, pool.padding_height, pool.height,
                 pool.counts_padding);
}
std::int64_t counted_columns(const Pooling& pool, std::int64_t column) {
  return counted(column, pool.stride_width, pool.kernel_width, pool.padding_width, pool.width,
                 pool.counts_padding);
}

/// Calls `work(output, divisor)` for every output of a plane. The divisor is the number of
/// positions that the average of its window counts.
template <class Work>
void for_each_divisor(const Pooling& pool, Work work) {
  for (std::int64_t row = 0; row < pool.out_height; ++row) {
    const std::int64_t rows = counted_rows(pool, row), line = row * pool.out_width;
    for_each_element(pool.out_width, [=, &pool](std::int64_t column) {
      work(line + column, static_cast<float>(rows * counted_columns(pool, column)));
    });
  }
}

void average(const Pooling& pool, const float* x, float* y) {
  const std::int64_t outputs = pool.planes * pool.out_height * pool.out_width;
  fill(outputs, 0, y);
  for_each_plane(pool, [&](std::int64_t image, std::int64_t output, auto stride) {
    for_each_row(pool,
                 [&](std::int64_t, std::int64_t pixels, std::int64_t first, std::int64_t count) {
                   for_each_element(count, [=, from = x + image + pixels, sum = y + output + first](
                                               std::int64_t i) { sum[i] += from[i * stride]; });
                 });
  });
  for (std::int64_t plane = 0; plane < pool.planes; ++plane)
    for_each_divisor(pool, [to = y + plane * pool.out_height * pool.out_width](
                               std::int64_t i, float divisor) { to[i] /= divisor; });
}

void average_gradient(const Pooling& pool, const float* dy, float* dx) {
  fill(pool.planes * pool.height * pool.width, 0, dx);
  for_each_plane(pool, [&](std::int64_t image, std::int64_t output, auto stride) {
    for_each_row(pool, [&](std::int64_t, std::int64_t pixels, std::int64_t first,
                           std::int64_t count) {
      const std::int64_t rows = counted_rows(pool, first / pool.out_width);
      const std::int64_t column = first % pool.out_width;
      for_each_element(count, [=, &pool, from = dy + output + first,
                               sum = dx + image + pixels](std::int64_t i) {
        sum[i * stride] += from[i] / static_cast<float>(rows * counted_columns(pool, column + i));
      });
    });
  });
}

/// Planes with at most this many pixels are averaged `vector_size` planes at a time.
constexpr std::int64_t few_pixels = 32;

/// Computes the averages of `vector_size` planes of at most `few_pixels` pixels. Each element of a
/// Vector adds up the pixels of one plane, in the order in which long_sum() adds them up.
void average_small_planes(std::int64_t pixels, const float* x, float* y) {
  std::int64_t rows = 1;
  while (rows < pixels) rows *= 2;
  Vector sums[few_pixels] = {};
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t plane = 0; plane < vector_size; ++plane)
      sums[pixel][plane] += x[plane * pixels + pixel];
  for (std::int64_t half = rows / 2; half > 0; half /= 2)
    for (std::int64_t row = 0; row < half; ++row) sums[row] += sums[row + half];
  for (std::int64_t plane = 0; plane < vector_size; ++plane)
    y[plane] =
        static_cast<float>(static_cast<double>(sums[0][plane]) / static_cast<double>(pixels));
}

void global_average(std::int64_t planes, std::int64_t pixels, const float* x, float* y) {
  std::int64_t plane = 0;
  if (pixels <= few_pixels)
    for (; plane + vector_size <= planes; plane += vector_size)
      average_small_planes(pixels, x + plane * pixels, y + plane);
  for (; plane < planes; ++plane)
    y[plane] =
        static_cast<float>(long_sum(pixels, x + plane * pixels) / static_cast<double>(pixels));
}

void global_average_gradient(std::int64_t planes, std::int64_t pixels, const float* dy, float* dx) {
  for (std::int64_t plane = 0; plane < planes; ++plane)
    fill(pixels, dy[plane] / static_cast<float>(pixels), dx + plane * pixels);
}

}  // namespace

extern const PoolKernels pool_kernels;
const PoolKernels pool_kernels{.maximum = maximum,
                               .maximum_gradient = maximum_gradient,
                               .average = average,
                               .average_gradient = average_gradient,
                               .global_average = global_average,
                               .global_average_gradient = global_average_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
