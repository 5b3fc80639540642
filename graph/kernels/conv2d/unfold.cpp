#include "graph/kernels/conv2d/unfold.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::graph {
namespace {

/// Rows are short: a call of memcpy for each would cost more than the copying.
void copy_row(const float* from, float* to, std::int64_t count) {
  constexpr std::int64_t chunk = 8;
  for (; count >= chunk; count -= chunk, from += chunk, to += chunk)
    std::memcpy(to, from, chunk * sizeof(float));
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

/// Output row `out` of `columns` for one window column: zero, the input's pixels, zero.
void unfold_row(const float* from, std::int64_t stride, Range columns, std::int64_t count,
                float* to) {
  std::fill(to, to + columns.begin, 0.0f);
  if (stride == 1)
    copy_row(from, to + columns.begin, columns.end - columns.begin);
  else
    for (std::int64_t i = columns.begin; i < columns.end; ++i)
      to[i] = from[(i - columns.begin) * stride];
  std::fill(to + columns.end, to + count, 0.0f);
}

void fold_row(const float* from, std::int64_t stride, Range columns, float* __restrict to) {
  const std::int64_t count = columns.end - columns.begin;
  const float* __restrict cells = from + columns.begin;
  if (stride == 1)
    for (std::int64_t i = 0; i < count; ++i) to[i] += cells[i];
  else
    for (std::int64_t i = 0; i < count; ++i) to[i * stride] += cells[i];
}

/// One window position of one channel: which part of the plane it sees.
struct Tap {
  std::int64_t kh, kw;
  Range rows, columns;  ///< the output rows and columns where it lies inside the input

  Tap(const Conv2dGeometry& conv, std::int64_t kh_, std::int64_t kw_)
      : kh(kh_),
        kw(kw_),
        rows(inside(conv.window, 0, kh, conv.h, conv.oh)),
        columns(inside(conv.window, 1, kw, conv.w, conv.ow)) {}

  /// Where in a plane the first column of output row `out` looks.
  std::int64_t offset(const Conv2dGeometry& conv, std::int64_t out) const {
    return conv.window.position(0, out, kh) * conv.w + conv.window.position(1, columns.begin, kw);
  }
};

void unfold_plane(const Conv2dGeometry& conv, const Tap& tap, const float* plane, float* to) {
  std::fill(to, to + tap.rows.begin * conv.ow, 0.0f);
  for (std::int64_t out = tap.rows.begin; out < tap.rows.end; ++out)
    unfold_row(plane + tap.offset(conv, out), conv.window.stride[1], tap.columns, conv.ow,
               to + out * conv.ow);
  std::fill(to + tap.rows.end * conv.ow, to + conv.pixels(), 0.0f);
}

void fold_plane(const Conv2dGeometry& conv, const Tap& tap, const float* from, float* plane) {
  for (std::int64_t out = tap.rows.begin; out < tap.rows.end; ++out)
    fold_row(from + out * conv.ow, conv.window.stride[1], tap.columns,
             plane + tap.offset(conv, out));
}

/// Calls `work(tap, plane, cells)` with the offset of each plane in x and of its cells in columns.
template <class Work>
void for_each_plane(const Conv2dGeometry& conv, std::int64_t samples, Work work) {
  const std::int64_t pitch = samples * conv.pixels();
  for (std::int64_t kh = 0; kh < conv.window.kernel[0]; ++kh)
    for (std::int64_t kw = 0; kw < conv.window.kernel[1]; ++kw) {
      const Tap tap(conv, kh, kw);
      const std::int64_t position = kh * conv.window.kernel[1] + kw;
      for (std::int64_t channel = 0; channel < conv.group_inputs(); ++channel)
        for (std::int64_t sample = 0; sample < samples; ++sample)
          work(tap, (sample * conv.c + channel) * conv.h * conv.w,
               (channel * conv.window.cells() + position) * pitch + sample * conv.pixels());
    }
}

}  // namespace

void unfold(const Conv2dGeometry& conv, const float* x, std::int64_t samples, float* columns) {
  for_each_plane(conv, samples, [&](const Tap& tap, std::int64_t plane, std::int64_t cells) {
    unfold_plane(conv, tap, x + plane, columns + cells);
  });
}

void fold(const Conv2dGeometry& conv, const float* columns, std::int64_t samples, float* x) {
  for_each_plane(conv, samples, [&](const Tap& tap, std::int64_t plane, std::int64_t cells) {
    fold_plane(conv, tap, columns + cells, x + plane);
  });
}

}  // namespace penstock::graph
