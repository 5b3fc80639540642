#include "graph/ops/convolution/avg_pool2d.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/pool2d.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  return {infer_pool2d(attributes, in)};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const auto [pool, image, output] = planes_of(call, x.shape(), y.shape());
  kernel_table().pools.average(pool, x.f32().data() + image, y.f32().data() + output);
}

void backward(GradientContext& context) {
  Attributes attributes =
      with_input_size(context.attributes(), context.type(context.input(0)).shape);
  context.set(0, context.emit(avg_pool2d_gradient, {context.gradient(0)}, std::move(attributes)));
}

/// Returns the cost of the pooling, which is also the cost of its gradient. `pooled` is the type of
/// the pooled image.
Cost window_cost(const Attributes& attributes, const TensorType& pooled, const TensorType& image) {
  const auto cells = static_cast<double>(pool_window(attributes).cells());
  return {.flops = (cells + 1) * static_cast<double>(pooled.shape.elements()),
          .bytes = static_cast<double>(pooled.bytes() + image.bytes())};
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return window_cost(attributes, out[0], in[0]);
}

std::vector<OpSample> samples() {
  std::vector<OpSample> samples = pool2d_samples();
  samples.push_back(
      {.inputs = {{DType::f32, {1, 2, 7, 5}}},
       .attributes = {{"kernel", 3}, {"stride", 2}, {"padding", 1}, {"count_include_pad", 0}}});
  samples.push_back({.inputs = {{DType::f32, {1, 1, 6, 8}}},
                     .attributes = {{"kernel", 3},
                                    {"stride", 2},
                                    {"ceil_mode", 1},
                                    {"padding", 1},
                                    {"count_include_pad", 0}}});
  return samples;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dy");
  return {{DType::f32, image_shape(attributes, in[0].shape)}};
}

void forward_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &dx = call.outputs[0];
  const auto [pool, image, output] = planes_of(call, dx.shape(), dy.shape());
  kernel_table().pools.average_gradient(pool, dy.f32().data() + output, dx.f32().data() + image);
}

Cost cost_gradient(const Attributes& attributes, Types in, Types out) {
  return window_cost(attributes, in[0], out[0]);
}

std::vector<TensorType> infer_global(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 4, "x");
  expect_elements(in[0], "x");
  return {{DType::f32, in[0].shape.with(2, 1).with(3, 1)}};
}

void forward_global(const KernelCall& call) {
  const Part planes = within(call.part, call.outputs[0].elements());
  const std::int64_t pixels = call.inputs[0].shape()[2] * call.inputs[0].shape()[3];
  kernel_table().pools.global_average(planes.end - planes.begin, pixels,
                                      call.inputs[0].f32().data() + planes.begin * pixels,
                                      call.outputs[0].f32().data() + planes.begin);
}

void backward_global(GradientContext& context) {
  context.set(0, context.emit(global_avg_pool2d_gradient, {context.gradient(0)},
                              with_input_size({}, context.type(context.input(0)).shape)));
}

/// Returns the cost of the global pooling, which is also the cost of its gradient: both touch every
/// pixel once.
Cost global_cost(const Attributes&, Types in, Types out) {
  return {.flops = static_cast<double>(std::max(in[0].shape.elements(), out[0].shape.elements())),
          .bytes = static_cast<double>(in[0].bytes() + out[0].bytes())};
}

std::vector<OpSample> global_samples() {
  return {{.inputs = {{DType::f32, {2, 3, 4, 5}}}}, {.inputs = {{DType::f32, {3, 1, 1, 1}}}}};
}

void forward_global_gradient(const KernelCall& call) {
  const Part planes = within(call.part, call.inputs[0].elements());
  const std::int64_t pixels = call.outputs[0].shape()[2] * call.outputs[0].shape()[3];
  kernel_table().pools.global_average_gradient(
      planes.end - planes.begin, pixels, call.inputs[0].f32().data() + planes.begin,
      call.outputs[0].f32().data() + planes.begin * pixels);
}

}  // namespace

const Op avg_pool2d{.name = "avg_pool2d",
                    .onnx = "AveragePool",
                    .attributes = {attribute::kernel, attribute::stride, attribute::padding,
                                   attribute::ceil_mode, attribute::count_include_pad},
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = cost,
                    .units = plane_units,
                    .samples = samples};

const Op avg_pool2d_gradient{
    .name = "avg_pool2d_gradient",
    .attributes = {attribute::kernel, attribute::stride, attribute::padding, attribute::ceil_mode,
                   attribute::count_include_pad, attribute::input_size},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = cost_gradient,
    .units = plane_units};

const Op global_avg_pool2d{.name = "global_avg_pool2d",
                           .onnx = "GlobalAveragePool",
                           .infer = infer_global,
                           .forward = forward_global,
                           .backward = backward_global,
                           .cost = global_cost,
                           .units = plane_units,
                           .samples = global_samples};

const Op global_avg_pool2d_gradient{.name = "global_avg_pool2d_gradient",
                                    .attributes = {attribute::input_size},
                                    .infer = infer_gradient,
                                    .forward = forward_global_gradient,
                                    .cost = global_cost,
                                    .units = plane_units};

}  // namespace penstock::graph
