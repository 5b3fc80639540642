#include "graph/ops/convolution/products/conv2d_products.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/units.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/convolution/products/borders.hpp"
#include "graph/ops/convolution/products/geometry.hpp"

namespace penstock::graph {
namespace {

/// An Offsets says at which elements the planes of x and y, the weights and the biases of a group
/// begin.
struct Offsets {
  std::int64_t x, y, weight, bias;

  Offsets(const Conv2dGeometry& conv, std::int64_t group)
      : x(group * conv.group_inputs() * conv.h * conv.w),
        y(group * conv.group_outputs() * conv.pixels()),
        weight(group * conv.group_outputs() * conv.depth()),
        bias(group * conv.group_outputs()) {}
};

/// Returns which of `count` units belong to `part` of `whole` units, in the same proportion. If
/// `turned` is true, the first part gets the last units. If there are fewer units than parts, the
/// last parts get them, or, if `turned` is true, the first ones.
Part in_proportion(Part part, std::int64_t whole, std::int64_t count, bool turned) {
  if (whole == 0) return {0, 0};
  const Part units = within(part, whole);
  if (turned) return in_proportion({whole - units.end, whole - units.begin}, whole, count, false);
  return {units.begin * count / whole, units.end * count / whole};
}

}  // namespace

std::int64_t convolve_floats(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv)) return depthwise_floats(*depthwise);
  return convolve_floats(forward_windows(conv));
}

std::int64_t convolve_input_gradient_floats(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv))
    return depthwise_input_gradient_floats(*depthwise);
  std::int64_t most = 0;
  for (const Windows& part : input_gradient_windows(conv))
    most = std::max(most, convolve_floats(part));
  return most;
}

std::int64_t convolve_weight_gradient_floats(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv))
    return depthwise_weight_gradient_floats(*depthwise);
  return weight_gradient_floats(weight_gradient_windows(conv));
}

std::int64_t convolve_units(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv)) return depthwise_units(*depthwise);
  return conv.groups * convolve_units(forward_windows(conv));
}

std::int64_t convolve_input_gradient_units(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv)) return depthwise_units(*depthwise);
  std::int64_t units = 0;
  for (const Windows& windows : input_gradient_windows(conv))
    units += conv.groups * convolve_units(windows);
  return units;
}

std::int64_t convolve_weight_gradient_units(const Conv2dGeometry& conv) {
  if (const auto depthwise = depthwise_form(conv)) return depthwise_weight_units(*depthwise);
  return conv.groups * conv.group_outputs();
}

bool packs_weights(const Conv2dGeometry& conv) {
  return !depthwise_form(conv) && packs_panels(forward_windows(conv));
}

Shape packed_weights_shape(const Conv2dGeometry& conv) {
  const Windows windows = forward_windows(conv);
  return {conv.groups, panels_of(windows.results),
          windows.channels * windows.rows.taps * windows.columns.taps, widest_panel};
}

void pack_weights(const Conv2dGeometry& conv, Part part, const float* weight, float* packed) {
  const Windows windows = forward_windows(conv);
  const std::int64_t units = panels_of(windows.results);
  for (std::int64_t group = 0; group < conv.groups; ++group)
    kernel_table().products.pack_panels(windows, overlap(part, group * units, units),
                                        weight + Offsets(conv, group).weight,
                                        packed + group * packed_floats(windows));
}

void convolve(const Conv2dGeometry& conv, Part part, const float* x, const float* weight,
              const float* bias, const Epilogue& epilogue, float* y, float* workspace) {
  if (auto depthwise = depthwise_form(conv)) {
    depthwise->epilogue = epilogue;
    return kernel_table().depthwise.convolve(*depthwise, part, x, weight, bias, y, workspace);
  }
  Windows windows = forward_windows(conv);
  const std::int64_t units = convolve_units(windows);
  for (std::int64_t group = 0; group < conv.groups; ++group) {
    const Offsets at(conv, group);
    const std::int64_t at_weight = conv.packed ? group * packed_floats(windows) : at.weight;
    windows.epilogue = from_plane(epilogue, at.bias);
    if (epilogue.addend) windows.epilogue.addend = epilogue.addend + at.y;
    kernel_table().products.convolve(windows, overlap(part, group * units, units), x + at.x,
                                     weight + at_weight, bias ? bias + at.bias : nullptr, y + at.y,
                                     workspace);
  }
}

void convolve_input_gradient(const Conv2dGeometry& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace) {
  if (const auto depthwise = depthwise_form(conv))
    return kernel_table().depthwise.convolve_input_gradient(*depthwise, part, dy, weight, dx,
                                                            workspace);
  // With a stride, there are several Windows, which have very different amounts of work. So each
  // part has its share of each.
  const std::int64_t whole = convolve_input_gradient_units(conv);
  bool turned = false;
  for (const Windows& windows : input_gradient_windows(conv)) {
    const std::int64_t units = convolve_units(windows);
    const Part share = in_proportion(part, whole, conv.groups * units, turned);
    turned = !turned;
    const Borders borders(windows);
    for (std::int64_t group = 0; group < conv.groups; ++group) {
      const Offsets at(conv, group);
      const Part overlapping = overlap(share, group * units, units);
      kernel_table().products.convolve(windows, overlapping, dy + at.y, weight + at.weight, nullptr,
                                       dx + at.x, workspace);
      borders.sum_again(overlapping, dy + at.y, weight + at.weight, dx + at.x);
    }
  }
}

void convolve_weight_gradient(const Conv2dGeometry& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace) {
  if (const auto depthwise = depthwise_form(conv))
    return kernel_table().depthwise.convolve_weight_gradient(*depthwise, part, x, dy, dweight,
                                                             workspace);
  const Windows windows = weight_gradient_windows(conv);
  const std::int64_t units = conv.group_outputs();
  for (std::int64_t group = 0; group < conv.groups; ++group) {
    const Part overlapping = overlap(part, group * units, units);
    if (empty(overlapping)) continue;
    const Offsets at(conv, group);
    kernel_table().products.convolve_weight_gradient(windows, overlapping, x + at.x, dy + at.y,
                                                     dweight + at.weight, workspace);
  }
}

}  // namespace penstock::graph
