#include "graph/kernels/pool2d/avg_pool2d.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

/// Calls `work(pixel, output)` with the offsets of every pair of an input pixel and an output that
/// sees it, for each output in the order of the window's positions.
template <class Work>
void for_each_pair(const Pool2dGeometry& pool, Work work) {
  for (std::int64_t plane = 0; plane < pool.planes; ++plane)
    for (std::int64_t kh = 0; kh < pool.window.kernel[0]; ++kh)
      for (std::int64_t kw = 0; kw < pool.window.kernel[1]; ++kw) {
        const Range rows = pool.rows(kh), columns = pool.columns(kw);
        for (std::int64_t row = rows.begin; row < rows.end; ++row)
          for (std::int64_t column = columns.begin; column < columns.end; ++column)
            work(plane * pool.h * pool.w + pool.offset(kh, kw, row, column),
                 (plane * pool.oh + row) * pool.ow + column);
      }
}

}  // namespace

void pool_average(const Pool2dGeometry& pool, const float* x, float* y) {
  const std::int64_t outputs = pool.planes * pool.oh * pool.ow;
  std::fill(y, y + outputs, 0.0f);
  for_each_pair(pool, [&](std::int64_t pixel, std::int64_t output) { y[output] += x[pixel]; });
  const auto cells = static_cast<float>(pool.window.cells());
  for (std::int64_t i = 0; i < outputs; ++i) y[i] /= cells;
}

void pool_average_gradient(const Pool2dGeometry& pool, const float* dy, float* dx) {
  std::fill(dx, dx + pool.planes * pool.h * pool.w, 0.0f);
  const auto cells = static_cast<float>(pool.window.cells());
  for_each_pair(pool,
                [&](std::int64_t pixel, std::int64_t output) { dx[pixel] += dy[output] / cells; });
}

}  // namespace penstock::graph
