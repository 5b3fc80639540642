// The convolutions, which have their weights and biases from other values.
#include "engine/onnx/import/convolutions.hpp"

#include <array>

#include "engine/onnx/import/operators.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

Size2d size2d(const Dims& numbers) {
  return {numbers[0], numbers[1]};
}

Size3d size3d(const Dims& numbers) {
  return {numbers[0], numbers[1], numbers[2]};
}

}  // namespace

Value convolution(NodeImport& n, const Value& x, const ConvolutionWeights& weights,
                  const Windows& windows, const Dims& padding) {
  Model& model = n.network.model();
  switch (windows.axes()) {
    case 1:
      return model.conv1d(x, weights.weight, weights.bias,
                          {.stride = windows.stride[0],
                           .padding = padding[0],
                           .dilation = windows.dilation[0],
                           .groups = weights.groups});
    case 2:
      return model.conv2d(x, weights.weight, weights.bias,
                          {.stride = size2d(windows.stride),
                           .padding = size2d(padding),
                           .dilation = size2d(windows.dilation),
                           .groups = weights.groups});
    case 3:
      return model.conv3d(x, weights.weight, weights.bias,
                          {.stride = size3d(windows.stride),
                           .padding = size3d(padding),
                           .dilation = size3d(windows.dilation),
                           .groups = weights.groups});
    default:
      n.expect_supported(false, "it moves over more than 3 axes");
      return {};
  }
}

namespace {

/// Returns the sizes of the weight's kernel.
Dims kernel_of(const NodeImport& n) {
  const Dims weight = n.dims(1);
  n.expect(weight.size() >= 3, "expected a weight [O,C,...]");
  return {weight.begin() + 2, weight.end()};
}

/// Returns the convolution of x, which is padded already unless `windows` pad evenly.
Value convolved(NodeImport& n, const Value& x, const Windows& windows, const Dims& padding) {
  const ConvolutionWeights weights{
      .weight = n.raw(1), .bias = n.has(2) ? n.raw(2) : Value(), .groups = n.integer("group", 1)};
  return convolution(n, x, weights, windows, padding);
}

Results conv(NodeImport& n) {
  const Images images = images_of(n);
  const Windows windows = windows_of(n, images.sizes, kernel_of(n));
  n.expect(windows.kernel == kernel_of(n), "expected a kernel_shape that is the weight's");
  if (windows.is_even()) return {of_images(n, convolved(n, images.value, windows, windows.before))};
  const Value padded = padded_images(n, images, windows, 0);
  return {of_images(n, convolved(n, padded, windows, Dims(windows.axes(), 0)))};
}

Value transposed_convolution(NodeImport& n, const Value& x, const Windows& windows,
                             const Dims& output_padding) {
  Model& model = n.network.model();
  const Value weight = n.raw(1), bias = n.has(2) ? n.raw(2) : Value();
  const std::int64_t groups = n.integer("group", 1);
  switch (windows.axes()) {
    case 1:
      return model.conv_transpose1d(x, weight, bias,
                                    {.stride = windows.stride[0],
                                     .output_padding = output_padding[0],
                                     .dilation = windows.dilation[0],
                                     .groups = groups});
    case 2:
      return model.conv_transpose2d(x, weight, bias,
                                    {.stride = size2d(windows.stride),
                                     .output_padding = size2d(output_padding),
                                     .dilation = size2d(windows.dilation),
                                     .groups = groups});
    case 3:
      return model.conv_transpose3d(x, weight, bias,
                                    {.stride = size3d(windows.stride),
                                     .output_padding = size3d(output_padding),
                                     .dilation = size3d(windows.dilation),
                                     .groups = groups});
    default:
      n.expect_supported(false, "it moves over more than 3 axes");
      return {};
  }
}

/// Sets the padding so that the result has the sizes that the node asks for.
void pad_to_sizes(NodeImport& n, Windows& windows, const Dims& sizes, Dims& output_padding) {
  const std::string automatic = n.text("auto_pad", "NOTSET");
  Dims wanted = n.integers("output_shape");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (wanted.size() == sizes.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.empty() && !same) return;
  n.expect(wanted.empty() || wanted.size() == sizes.size(), "expected a size for each axis");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = wanted.empty() ? sizes[i] * windows.stride[i] : wanted.at(i);
    const std::int64_t extent = windows.dilation[i] * (windows.kernel[i] - 1) + 1;
    const std::int64_t over =
        windows.stride[i] * (sizes[i] - 1) + output_padding[i] + extent - size;
    output_padding[i] += std::max<std::int64_t>(0, -over);
    const std::int64_t all = std::max<std::int64_t>(0, over);
    windows.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    windows.after[i] = all - windows.before[i];
  }
}

// The padding is taken away from the whole result, because it may differ at the two ends of an
// axis.
Results conv_transpose(NodeImport& n) {
  const Images images = images_of(n);
  Windows windows = windows_of(n, images.sizes, kernel_of(n));
  Dims output_padding = n.integers("output_padding");
  if (output_padding.empty()) output_padding.assign(windows.axes(), 0);
  n.expect(output_padding.size() == windows.axes(), "expected an output_padding for each axis");
  pad_to_sizes(n, windows, images.sizes, output_padding);
  Value result = transposed_convolution(n, images.value, windows, output_padding);
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    if (windows.before[i] == 0 && windows.after[i] == 0) continue;
    const auto axis = static_cast<std::int64_t>(i + 2);
    const std::int64_t size = n.network.shape(result)[i + 2];
    n.expect(windows.before[i] + windows.after[i] < size, "expected less padding than the result");
    result =
        n.apply(graph::slice, {result},
                {{"axis", axis}, {"begin", windows.before[i]}, {"end", size - windows.after[i]}});
  }
  return {of_images(n, result)};
}

}  // namespace

std::span<const OnnxOperator> convolution_operators() {
  static constexpr std::array<OnnxOperator, 2> operators{{
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
  }};
  return operators;
}

}  // namespace penstock
