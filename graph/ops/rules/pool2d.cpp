#include "graph/ops/rules/pool2d.hpp"

#include <string>

#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {

namespace {

/// Returns how many windows there are along each axis if a window may end outside of the padded
/// image. Each of them begins in the image or in the padding before it.
Pair rounded_up_counts(const Window2d& window, const Shape& x) {
  expect_window(window);
  Pair counts{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t size = x[static_cast<std::ptrdiff_t>(axis) + 2];
    const std::int64_t padding = window.padding[axis], stride = window.stride[axis];
    const std::int64_t left = size + 2 * padding - window.extent(axis) + stride - 1;
    expect(left >= 0, "expected a kernel of at most " +
                          std::to_string(size + 2 * padding + stride - 1) +
                          " pixels along an axis of " + std::to_string(size) + " pixels, got " +
                          std::to_string(window.extent(axis)));
    counts[axis] = left / stride + 1;
    if ((counts[axis] - 1) * stride >= size + padding) --counts[axis];
  }
  return counts;
}

/// Checks that each of `count` windows sees a pixel of an axis of `size` pixels. A window with a
/// dilation that begins in the padding may step over all of them.
void expect_pixels(const Window2d& window, std::size_t axis, std::int64_t size,
                   std::int64_t count) {
  const std::int64_t dilation = window.dilation[axis];
  for (std::int64_t out = 0; out < count && window.position(axis, out, 0) < 0; ++out) {
    const std::int64_t outside = -window.position(axis, out, 0);
    const std::int64_t first = (outside + dilation - 1) / dilation;
    expect(first < window.kernel[axis] && window.position(axis, out, first) < size,
           "expected windows that see a pixel of x, got dilation " + std::to_string(dilation) +
               " with padding " + std::to_string(window.padding[axis]) + " along an axis of " +
               std::to_string(size) + " pixels");
  }
}

}  // namespace

Shape pooled_shape(const Attributes& attributes, const TensorType& x) {
  expect(x.shape[2] > 0 && x.shape[3] > 0,
         "expected x with at least one pixel, got " + to_string(x));
  const Window2d window = pool_window(attributes);
  const Pair counts = attribute::ceil_mode.of(attributes) ? rounded_up_counts(window, x.shape)
                                                          : window_counts(window, x);
  // Padding as wide as the kernel gives windows that see padding only. This limit is PyTorch's.
  for (std::size_t axis = 0; axis < 2; ++axis)
    expect(2 * window.padding[axis] <= window.kernel[axis],
           "expected padding of at most " + std::to_string(window.kernel[axis] / 2) +
               ", half of the kernel of " + std::to_string(window.kernel[axis]) +
               " rounded down, got " + std::to_string(window.padding[axis]));
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (window.dilation[axis] > 1)
      expect_pixels(window, axis, x.shape[static_cast<std::ptrdiff_t>(axis) + 2], counts[axis]);
  return x.shape.with(2, counts[0]).with(3, counts[1]);
}

TensorType infer_pool2d(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 4, "x");
  expect_elements(in[0], "x");
  return {DType::f32, pooled_shape(attributes, in[0])};
}

Pooling pooling(const Attributes& attributes, const Shape& x, const Shape& y) {
  const Window2d window = pool_window(attributes);
  return {.planes = x[0] * x[1],
          .height = x[2],
          .width = x[3],
          .out_height = y[2],
          .out_width = y[3],
          .kernel_height = window.kernel[0],
          .kernel_width = window.kernel[1],
          .stride_height = window.stride[0],
          .stride_width = window.stride[1],
          .padding_height = window.padding[0],
          .padding_width = window.padding[1],
          .dilation_height = window.dilation[0],
          .dilation_width = window.dilation[1],
          .counts_padding = attribute::count_include_pad.of(attributes)};
}

PooledPlanes planes_of(const KernelCall& call, const Shape& image, const Shape& output) {
  Pooling pool = pooling(call.attributes, image, output);
  const std::int64_t all = pool.planes;
  const Part part = within(call.part, all);
  pool.planes = part.end - part.begin;
  if (all == 0) return {pool, 0, 0};
  return {pool, part.begin * (image.elements() / all), part.begin * (output.elements() / all)};
}

std::int64_t plane_units(const Attributes&, Types, Types outputs) {
  return outputs[0].shape[0] * outputs[0].shape[1];
}

std::vector<OpSample> pool2d_samples() {
  using List = std::vector<std::int64_t>;
  return {
      {.inputs = {{DType::f32, {2, 3, 6, 4}}}, .attributes = {{"kernel", 2}}},
      {.inputs = {{DType::f32, {1, 2, 7, 9}}},
       .attributes = {{"kernel", 3}, {"stride", 2}, {"padding", 1}}},
      {.inputs = {{DType::f32, {2, 1, 5, 8}}},
       .attributes = {{"kernel", List{2, 3}}, {"stride", 1}, {"padding", List{1, 0}}}},
      {.inputs = {{DType::f32, {1, 1, 8, 7}}}, .attributes = {{"kernel", 2}, {"stride", 3}}},
  };
}

}  // namespace penstock::graph
