#include "graph/kernels/conv2d/pixel_by_pixel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace penstock::graph {
namespace {

/// Adds what one pixel of dy sends back to one plane of dx, through the plane's taps `weight`.
void send_back(const Conv2dGeometry& conv, std::int64_t pixel, float dy, const float* weight,
               float* dx) {
  const Window2d& window = conv.window;
  for (std::int64_t tap = 0; tap < window.cells(); ++tap) {
    const std::int64_t row = window.position(0, pixel / conv.ow, tap / window.kernel[1]);
    const std::int64_t column = window.position(1, pixel % conv.ow, tap % window.kernel[1]);
    const bool inside = row >= 0 && row < conv.h && column >= 0 && column < conv.w;
    if (inside) dx[row * conv.w + column] += dy * weight[tap];
  }
}

}  // namespace

bool has_finite_weights(const Conv2dGeometry& conv, const float* weight) {
  constexpr std::uint32_t exponent = 0x7f800000;  // all of its bits are set in nothing finite
  std::uint32_t found = 0;
  for (std::int64_t i = 0; i < conv.o * conv.depth(); ++i)
    found |= (std::bit_cast<std::uint32_t>(weight[i]) & exponent) == exponent ? 1 : 0;
  return found == 0;
}

void send_back_pixel_by_pixel(const Conv2dGeometry& conv, const float* dy, const float* weight,
                              float* dx) {
  const std::int64_t plane = conv.h * conv.w;
  std::fill_n(dx, conv.n * conv.c * plane, 0.0f);
  for (std::int64_t image = 0; image < conv.n * conv.o; ++image) {
    const std::int64_t sample = image / conv.o, o = image % conv.o;
    const std::int64_t first = sample * conv.c + o / conv.group_outputs() * conv.group_inputs();
    for (std::int64_t pixel = 0; pixel < conv.pixels(); ++pixel)
      for (std::int64_t c = 0; c < conv.group_inputs(); ++c)
        send_back(conv, pixel, dy[image * conv.pixels() + pixel],
                  weight + o * conv.depth() + c * conv.window.cells(), dx + (first + c) * plane);
  }
}

}  // namespace penstock::graph
