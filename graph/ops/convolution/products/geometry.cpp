#include "graph/ops/convolution/products/geometry.hpp"

#include <algorithm>
#include <numeric>

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"

namespace penstock::graph {
namespace {

/// These constants say how many places are computed at once. `places_per_band` places, in the
/// forward and in the gradient of the input, make good use of packed weights, and
/// `gradients_per_band` places make good use of a packed gradient. Where images are read as they
/// lie in memory, `direct_places` places are so few that their sums stay in near caches.
constexpr std::int64_t places_per_band = 512;
constexpr std::int64_t gradients_per_band = 256;
constexpr std::int64_t direct_places = 256;

/// Returns the width of an image [N,C,H,W], or of [B,C,H,W,16], where the 16 samples of a pixel are
/// as good as 16 pixels.
std::int64_t width_of(const Shape& image) {
  return image.rank() == 5 ? image[3] * image[4] : image[3];
}

WindowAxis axis_of(WindowAxis axis) {
  const std::int64_t reach = axis.tap_step * (axis.taps > 0 ? axis.taps - 1 : 0);
  axis.low = axis.first + std::min<std::int64_t>(reach, 0);
  axis.span = std::max(reach, -reach);
  return axis;
}

WindowAxis forward_axis(const Window2d& window, std::size_t axis, std::int64_t size,
                        std::int64_t places) {
  return axis_of({.size = size,
                  .places = places,
                  .step = window.stride[axis],
                  .taps = window.kernel[axis],
                  .first = -window.padding[axis],
                  .tap_step = window.dilation[axis],
                  .low = 0,
                  .span = 0,
                  .target_first = 0,
                  .target_step = 1,
                  .weight_first = 0,
                  .weight_step = 1});
}

/// Returns the axis of the input pixels phase, phase + stride, and so on. Tap k of output i sees
/// pixel i * stride - padding + k * dilation. Pixel p is therefore seen by the taps for which p +
/// padding - k * dilation is a multiple of the stride, which is every stride / gcd(stride,
/// dilation)th tap.
WindowAxis gradient_axis(const Window2d& window, std::size_t axis, std::int64_t phase,
                         std::int64_t size, std::int64_t outputs) {
  const std::int64_t stride = window.stride[axis], dilation = window.dilation[axis];
  const std::int64_t every = stride / std::gcd(stride, dilation), taps = window.kernel[axis];
  const auto distance = [&](std::int64_t k) { return phase + window.padding[axis] - k * dilation; };
  std::int64_t k = 0;
  while (k < std::min(every, taps) && distance(k) % stride != 0) ++k;
  const bool none = k == std::min(every, taps);
  return axis_of({.size = outputs,
                  .places = size > phase ? (size - phase - 1) / stride + 1 : 0,
                  .step = 1,
                  .taps = none ? 0 : (taps - k - 1) / every + 1,
                  .first = none ? 0 : distance(k) / stride,
                  .tap_step = -every * dilation / stride,
                  .low = 0,
                  .span = 0,
                  .target_first = phase,
                  .target_step = stride,
                  .weight_first = k,
                  .weight_step = every});
}

Windows cut_into_bands(Windows w, std::int64_t places, std::int64_t depth) {
  const std::int64_t rows = std::max<std::int64_t>(1, w.rows.places);
  const std::int64_t width = std::max<std::int64_t>(1, w.columns.places);
  w.band_rows = std::clamp<std::int64_t>(places / width, 1, rows);
  w.band_samples = w.band_rows == rows
                       ? std::clamp<std::int64_t>(places / (rows * width), 1,
                                                  std::max<std::int64_t>(1, w.samples))
                       : 1;
  const std::int64_t taps = std::max<std::int64_t>(1, w.rows.taps * w.columns.taps);
  const std::int64_t channels = std::max<std::int64_t>(1, w.channels);
  const std::int64_t most = std::clamp<std::int64_t>(depth / taps, 1, channels);
  const std::int64_t blocks = (channels + most - 1) / most;
  w.block_channels = (channels + blocks - 1) / blocks;
  return w;
}

/// Leaves out those taps at both ends of the kernel through which every place sees only the border.
WindowAxis cropped(WindowAxis axis) {
  const auto sees = [&](std::int64_t tap) {
    const std::int64_t first = axis.first + tap * axis.tap_step;
    for (std::int64_t place = 0; place < axis.places; ++place)
      if (const std::int64_t pixel = first + place * axis.step; pixel >= 0 && pixel < axis.size)
        return true;
    return false;
  };
  while (axis.taps > 0 && !sees(axis.taps - 1)) --axis.taps;
  while (axis.taps > 0 && !sees(0)) {
    --axis.taps;
    axis.first += axis.tap_step;
    axis.weight_first += axis.weight_step;
  }
  return axis_of(axis);
}

/// Returns how many places of a convolution that reads its source directly are computed at once.
/// Threads share panels of planes at the places of a band. There are so many bands that threads
/// have nearly the same work even if there are few panels.
std::int64_t direct_band(const Windows& w) {
  constexpr std::int64_t fewest_places = 64, enough_units = 8;
  const std::int64_t places = w.samples * w.rows.places * w.columns.places;
  return std::clamp(places * panels_of(w.results) / enough_units, fewest_places, direct_places);
}

/// Cuts `count` things into as few parts of at most `most` things as possible, which are as equal
/// as possible, and returns the size of the largest part.
std::int64_t evened(std::int64_t count, std::int64_t most) {
  const std::int64_t parts = (count + most - 1) / most;
  return parts > 0 ? (count + parts - 1) / parts : most;
}

Windows cut_for_sums(Windows w) {
  w.rows = cropped(w.rows);
  w.columns = cropped(w.columns);
  w = convolves_directly(w) ? cut_into_bands(w, direct_band(w), direct_depth)
                            : cut_into_bands(w, places_per_band, depth_block);
  w.band_rows = evened(w.rows.places, w.band_rows);
  w.band_samples = evened(w.samples, w.band_samples);
  return w;
}

Windows forward_of(const Conv2dGeometry& conv) {
  const std::int64_t cells = conv.window.cells();
  return {.samples = conv.n,
          .rows = forward_axis(conv.window, 0, conv.h, conv.oh),
          .columns = forward_axis(conv.window, 1, conv.w, conv.ow),
          .channels = conv.group_inputs(),
          .results = conv.group_outputs(),
          .source_sample = conv.c * conv.h * conv.w,
          .target_sample = conv.o * conv.pixels(),
          .target_plane = conv.pixels(),
          .target_row = conv.ow,
          .weight_result = conv.depth(),
          .weight_channel = cells,
          .weight_row = conv.window.kernel[1],
          .band_samples = 0,
          .band_rows = 0,
          .block_channels = 0,
          .packed = conv.packed};
}

}  // namespace

Conv2dGeometry::Conv2dGeometry(const Attributes& attributes, const Shape& x, const Shape& weight,
                               const Shape& y)
    : n(x[0]),
      c(x[1]),
      h(x[2]),
      w(width_of(x)),
      o(y[1]),
      oh(y[2]),
      ow(width_of(y)),
      groups(attribute::groups.of(attributes)),
      window(conv_window(attributes, {weight[2], weight[3]})) {}

Cost Conv2dGeometry::cost() const noexcept {
  const auto outputs = static_cast<double>(n * o * pixels());
  const auto cells = static_cast<double>(n * c * h * w + o * depth()) + outputs;
  return {.flops = 2 * outputs * static_cast<double>(depth()), .bytes = 4 * cells};
}

std::optional<DepthwiseConvolution> depthwise_form(const Conv2dGeometry& conv) {
  if (conv.groups == 1 || conv.groups != conv.c || conv.groups != conv.o) return std::nullopt;
  const Window2d& window = conv.window;
  return DepthwiseConvolution{.samples = conv.n,
                              .channels = conv.c,
                              .height = conv.h,
                              .width = conv.w,
                              .out_height = conv.oh,
                              .out_width = conv.ow,
                              .kernel_height = window.kernel[0],
                              .kernel_width = window.kernel[1],
                              .stride_height = window.stride[0],
                              .stride_width = window.stride[1],
                              .padding_height = window.padding[0],
                              .padding_width = window.padding[1],
                              .dilation_height = window.dilation[0],
                              .dilation_width = window.dilation[1]};
}

Windows forward_windows(const Conv2dGeometry& conv) {
  return cut_for_sums(forward_of(conv));
}

Windows weight_gradient_windows(const Conv2dGeometry& conv) {
  return cut_into_bands(forward_of(conv), gradients_per_band, depth_block);
}

std::vector<Windows> input_gradient_windows(const Conv2dGeometry& conv) {
  std::vector<Windows> parts;
  for (std::int64_t y = 0; y < std::min(conv.window.stride[0], conv.h); ++y)
    for (std::int64_t x = 0; x < std::min(conv.window.stride[1], conv.w); ++x)
      parts.push_back(cut_for_sums({.samples = conv.n,
                                    .rows = gradient_axis(conv.window, 0, y, conv.h, conv.oh),
                                    .columns = gradient_axis(conv.window, 1, x, conv.w, conv.ow),
                                    .channels = conv.group_outputs(),
                                    .results = conv.group_inputs(),
                                    .source_sample = conv.o * conv.pixels(),
                                    .target_sample = conv.c * conv.h * conv.w,
                                    .target_plane = conv.h * conv.w,
                                    .target_row = conv.w,
                                    .weight_result = conv.window.cells(),
                                    .weight_channel = conv.depth(),
                                    .weight_row = conv.window.kernel[1],
                                    .band_samples = 0,
                                    .band_rows = 0,
                                    .block_channels = 0}));
  return parts;
}

}  // namespace penstock::graph
