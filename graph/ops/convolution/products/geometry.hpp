// A Conv2dGeometry has the sizes of a convolution. Functions describe the convolution and its
// gradients as windows, in the form that kernels take: by the pixels that each place sees.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/kernels/depthwise/depthwise.hpp"
#include "graph/kernels/products/windows.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {

/// A Conv2dGeometry has the sizes of x [N,C,H,W], weight [O,C/groups,kh,kw] and y [N,O,OH,OW].
struct Conv2dGeometry {
  std::int64_t n, c, h, w;
  std::int64_t o, oh, ow;
  std::int64_t groups;
  Window2d window;
  /// If this is true, the weights of the convolution are what pack_weights() has made of them.
  bool packed = false;

  /// If the kernel has one pixel, `x` and `y` may be images [B,C,H,W,16] in the batch-lane layout.
  Conv2dGeometry(const Attributes& attributes, const Shape& x, const Shape& weight, const Shape& y);

  std::int64_t group_inputs() const noexcept { return c / groups; }
  std::int64_t group_outputs() const noexcept { return o / groups; }
  std::int64_t pixels() const noexcept { return oh * ow; }
  /// Returns the number of products whose sum is one output element.
  std::int64_t depth() const noexcept { return group_inputs() * window.cells(); }

  Cost cost() const noexcept;
};

/// Returns the sizes of `conv` in the form of the depthwise kernels, if each of its several
/// channels is convolved by itself with one kernel.
std::optional<DepthwiseConvolution> depthwise_form(const Conv2dGeometry& conv);

/// Returns the windows of the convolution from one group of x to one group of y.
Windows forward_windows(const Conv2dGeometry& conv);
/// Returns the windows of forward_windows(), cut into the bands by which the gradient of the
/// weights is summed. A band has some rows of one sample, or all rows of several samples.
Windows weight_gradient_windows(const Conv2dGeometry& conv);
/// Returns the windows from one group of dy to one group of dx. Pixels of dx that are a stride
/// apart are seen by the same taps of the kernel. They are therefore the results of one
/// convolution, which has these taps in reverse order. Together these convolutions write every
/// pixel of dx.
std::vector<Windows> input_gradient_windows(const Conv2dGeometry& conv);

}  // namespace penstock::graph
