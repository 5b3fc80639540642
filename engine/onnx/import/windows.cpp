#include "engine/onnx/import/windows.hpp"

#include <algorithm>

namespace penstock {
namespace {

Dims or_ones(Dims numbers, std::size_t count) {
  if (numbers.empty()) numbers.assign(count, 1);
  return numbers;
}

/// Adds as much as gives the result one element for each `stride` elements of an axis.
void add_same(Windows& windows, const Dims& sizes, bool more_behind) {
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const std::int64_t count = (sizes[i] + windows.stride[i] - 1) / windows.stride[i];
    const std::int64_t extent = windows.dilation[i] * (windows.kernel[i] - 1) + 1;
    const std::int64_t all =
        std::max<std::int64_t>(0, (count - 1) * windows.stride[i] + extent - sizes[i]);
    windows.before[i] = more_behind ? all / 2 : all - all / 2;
    windows.after[i] = all - windows.before[i];
  }
}

}  // namespace

Windows windows_of(const NodeImport& n, const Dims& sizes, const Dims& kernel) {
  const std::size_t axes = sizes.size();
  Windows windows{.kernel = n.integers("kernel_shape"),
                  .stride = or_ones(n.integers("strides"), axes),
                  .dilation = or_ones(n.integers("dilations"), axes),
                  .before = Dims(axes, 0),
                  .after = Dims(axes, 0)};
  if (windows.kernel.empty()) windows.kernel = kernel;
  for (const Dims* numbers : {&windows.kernel, &windows.stride, &windows.dilation}) {
    n.expect(numbers->size() == axes, "expected a number for each axis behind the channels");
    for (const std::int64_t number : *numbers)
      n.expect(number >= 1 && number <= (std::int64_t{1} << 30),
               "expected windows, strides and dilations from 1 to 2^30");
  }
  const std::string automatic = n.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    add_same(windows, sizes, automatic == "SAME_UPPER");
  } else if (const Dims pads = n.integers("pads"); !pads.empty() && automatic == "NOTSET") {
    n.expect(pads.size() == 2 * axes, "expected two widths of padding for each axis");
    for (const std::int64_t width : pads)
      n.expect(width >= 0 && width <= (std::int64_t{1} << 30), "expected padding from 0 to 2^30");
    windows.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
    windows.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  }
  return windows;
}

Images images_of(NodeImport& n) {
  const Dims dims = n.dims(0);
  n.expect(dims.size() >= 2, "expected an input [N,C,...]");
  const std::optional<Placement>& placement = n.input(0).placement;
  if (!placement) throw MixedSamples{"its images do not depend on samples"};
  Images images{
      .value = n.value(0), .sizes = Dims(dims.begin() + 2, dims.end()), .channels = dims[1]};
  if (placement->is_first()) return images;
  if (!placement->whole || dims[0] != 1)
    throw MixedSamples{"axis 0 of its images does not count samples"};
  Dims of_value = dims;
  of_value[0] = 0;
  images.value = n.network.reshaped_value(images.value, of_value);
  return images;
}

Imported of_images(NodeImport& n, const Value& images) {
  if (!n.input(0).placement->whole) return n.like_first(images);
  Dims dims = n.network.shape(images);
  dims.insert(dims.begin(), 0);
  dims[1] = 1;
  return n.like_first(n.network.reshaped_value(images, dims));
}

Value padded_images(NodeImport& n, const Images& images, const Windows& windows, double number) {
  Dims widths;
  bool any = false;
  for (std::size_t i = windows.axes(); i-- > 0;) {
    widths.push_back(windows.before[i]);
    widths.push_back(windows.after[i]);
    any = any || windows.before[i] != 0 || windows.after[i] != 0;
  }
  return any ? n.network.model().pad(images.value, widths, {.value = number}) : images.value;
}

}  // namespace penstock
