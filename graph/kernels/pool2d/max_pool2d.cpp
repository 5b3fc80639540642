#include "graph/kernels/pool2d/max_pool2d.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace penstock::graph {
namespace {

/// One row of outputs against the pixels that one window position shows them. `stride` is a
/// constant where that makes the loop fast.
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

void start_row(const Pool2dGeometry& pool, std::int64_t row, float* y, float* winners) {
  std::fill(y, y + pool.ow, -std::numeric_limits<float>::infinity());
  const std::int64_t line = first_inside(pool.window, 0, row) * pool.window.kernel[1];
  for (std::int64_t column = 0; column < pool.ow; ++column)
    winners[column] = static_cast<float>(line + first_inside(pool.window, 1, column));
}

void challenge_row(const Pool2dGeometry& pool, const float* plane, std::int64_t row,
                   std::int64_t kh, float* y, float* winners) {
  for (std::int64_t kw = 0; kw < pool.window.kernel[1]; ++kw) {
    const auto [begin, end] = pool.columns(kw);
    const float* const x = plane + pool.offset(kh, kw, row, begin);
    const auto position = static_cast<float>(kh * pool.window.kernel[1] + kw);
    const auto run = [&](auto stride) {
      challenge(x, stride, position, end - begin, y + begin, winners + begin);
    };
    if (pool.window.stride[1] == 2)
      run(std::integral_constant<std::int64_t, 2>());
    else
      run(pool.window.stride[1]);
  }
}

}  // namespace

void pool_maximum(const Pool2dGeometry& pool, const float* x, float* y, float* winners) {
  for (std::int64_t line = 0; line < pool.planes * pool.oh; ++line) {
    const std::int64_t plane = line / pool.oh, row = line % pool.oh;
    start_row(pool, row, y + line * pool.ow, winners + line * pool.ow);
    for (std::int64_t kh = 0; kh < pool.window.kernel[0]; ++kh)
      if (const Range rows = pool.rows(kh); row >= rows.begin && row < rows.end)
        challenge_row(pool, x + plane * pool.h * pool.w, row, kh, y + line * pool.ow,
                      winners + line * pool.ow);
  }
}

void pool_maximum_gradient(const Pool2dGeometry& pool, const float* winners, const float* dy,
                           float* dx) {
  std::fill(dx, dx + pool.planes * pool.h * pool.w, 0.0f);
  const std::int64_t width = pool.window.kernel[1];
  for (std::int64_t line = 0; line < pool.planes * pool.oh; ++line) {
    float* const plane = dx + line / pool.oh * pool.h * pool.w;
    for (std::int64_t column = 0; column < pool.ow; ++column) {
      const std::int64_t i = line * pool.ow + column;
      const auto winner = static_cast<std::int64_t>(winners[i]);
      plane[pool.offset(winner / width, winner % width, line % pool.oh, column)] += dy[i];
    }
  }
}

}  // namespace penstock::graph
