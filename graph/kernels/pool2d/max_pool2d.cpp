#include "graph/kernels/pool2d/max_pool2d.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace penstock::graph {
namespace {

/// Calls `work` with the stride, as a constant where that makes the loop fast.
template <class Work>
void with_stride(std::int64_t stride, Work work) {
  if (stride == 1)
    work(std::integral_constant<std::int64_t, 1>());
  else if (stride == 2)
    work(std::integral_constant<std::int64_t, 2>());
  else
    work(stride);
}

/// One row of outputs against the pixels that one window position shows them.
template <class Stride>
void challenge(const float* __restrict x, Stride stride, float position, std::int64_t count,
               float* __restrict best, float* __restrict winners) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float pixel = x[i * stride];
    const bool wins = pixel > best[i] || pixel != pixel;
    best[i] = wins ? pixel : best[i];
    winners[i] = wins ? position : winners[i];
  }
}

/// The first window position that is not in the padding holds until a larger pixel comes.
std::int64_t first_inside(const Window2d& window, std::size_t axis, std::int64_t out) {
  return std::max<std::int64_t>(0, -window.position(axis, out, 0));
}

void start_plane(const Pool2dGeometry& pool, float* y, float* winners) {
  std::fill(y, y + pool.oh * pool.ow, -std::numeric_limits<float>::infinity());
  for (std::int64_t row = 0; row < pool.oh; ++row) {
    const std::int64_t line = first_inside(pool.window, 0, row) * pool.window.kernel[1];
    for (std::int64_t column = 0; column < pool.ow; ++column)
      winners[row * pool.ow + column] =
          static_cast<float>(line + first_inside(pool.window, 1, column));
  }
}

/// Calls `work(position, pixels, outputs, count)` for every window position and every row of
/// outputs that it shows real pixels to: the offsets in a plane where the row begins, and its
/// length.
template <class Work>
void for_each_row(const Pool2dGeometry& pool, Work work) {
  for (std::int64_t kh = 0; kh < pool.window.kernel[0]; ++kh)
    for (std::int64_t kw = 0; kw < pool.window.kernel[1]; ++kw) {
      const auto position = static_cast<float>(kh * pool.window.kernel[1] + kw);
      const Range rows = pool.rows(kh), columns = pool.columns(kw);
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        work(position, pool.offset(kh, kw, row, columns.begin), row * pool.ow + columns.begin,
             columns.end - columns.begin);
    }
}

}  // namespace

void pool_maximum(const Pool2dGeometry& pool, const float* x, float* y, float* winners) {
  with_stride(pool.window.stride[1], [&](auto stride) {
    for (std::int64_t plane = 0; plane < pool.planes; ++plane) {
      const float* const image = x + plane * pool.h * pool.w;
      const std::int64_t first = plane * pool.oh * pool.ow;
      start_plane(pool, y + first, winners + first);
      for_each_row(
          pool, [&](float position, std::int64_t pixels, std::int64_t outputs, std::int64_t count) {
            challenge(image + pixels, stride, position, count, y + first + outputs,
                      winners + first + outputs);
          });
    }
  });
}

void pool_maximum_gradient(const Pool2dGeometry& pool, const float* winners, const float* dy,
                           float* dx) {
  std::fill(dx, dx + pool.planes * pool.h * pool.w, 0.0f);
  const auto width = static_cast<std::int32_t>(pool.window.kernel[1]);
  for (std::int64_t line = 0; line < pool.planes * pool.oh; ++line) {
    const std::int64_t row = line % pool.oh;
    float* const plane = dx + line / pool.oh * pool.h * pool.w;
    for (std::int64_t column = 0; column < pool.ow; ++column, ++winners, ++dy) {
      const auto winner = static_cast<std::int32_t>(*winners);
      plane[pool.offset(winner / width, winner % width, row, column)] += *dy;
    }
  }
}

}  // namespace penstock::graph
