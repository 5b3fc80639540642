#include "graph/ops/convolution/avg_pool2d.hpp"

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

/// Returns the cost of the pooling and of its gradient alike; `pooled` is the small side.
Cost window_cost(const Attributes& attributes, const TensorType& pooled, const TensorType& image) {
  const auto cells = static_cast<double>(pool_window(attributes).cells());
  return {.flops = (cells + 1) * static_cast<double>(pooled.shape.elements()),
          .bytes = static_cast<double>(pooled.bytes() + image.bytes())};
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return window_cost(attributes, out[0], in[0]);
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

}  // namespace

const Op avg_pool2d{.name = "avg_pool2d",
                    .onnx = "AveragePool",
                    .attributes = {attribute::kernel, attribute::stride, attribute::padding},
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = cost,
                    .units = plane_units,
                    .samples = pool2d_samples};

const Op avg_pool2d_gradient{
    .name = "avg_pool2d_gradient",
    .attributes = {attribute::kernel, attribute::stride, attribute::padding, attribute::input_size},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = cost_gradient,
    .units = plane_units};

}  // namespace penstock::graph
