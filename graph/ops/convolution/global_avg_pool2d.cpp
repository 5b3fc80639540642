#include "graph/ops/convolution/global_avg_pool2d.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/pool2d.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 4, "x");
  expect_elements(in[0], "x");
  return {{DType::f32, in[0].shape.with(2, 1).with(3, 1)}};
}

void forward(const KernelCall& call) {
  const Part planes = within(call.part, call.outputs[0].elements());
  const std::int64_t pixels = call.inputs[0].shape()[2] * call.inputs[0].shape()[3];
  kernel_table().pools.global_average(planes.end - planes.begin, pixels,
                                      call.inputs[0].f32().data() + planes.begin * pixels,
                                      call.outputs[0].f32().data() + planes.begin);
}

void backward(GradientContext& context) {
  context.set(0, context.emit(global_avg_pool2d_gradient, {context.gradient(0)},
                              with_input_size({}, context.type(context.input(0)).shape)));
}

/// In both directions, every pixel is touched once.
Cost cost(const Attributes&, Types in, Types out) {
  return {.flops = static_cast<double>(std::max(in[0].shape.elements(), out[0].shape.elements())),
          .bytes = static_cast<double>(in[0].bytes() + out[0].bytes())};
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {2, 3, 4, 5}}}}, {.inputs = {{DType::f32, {3, 1, 1, 1}}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dy");
  return {{DType::f32, image_shape(attributes, in[0].shape)}};
}

void forward_gradient(const KernelCall& call) {
  const Part planes = within(call.part, call.inputs[0].elements());
  const std::int64_t pixels = call.outputs[0].shape()[2] * call.outputs[0].shape()[3];
  kernel_table().pools.global_average_gradient(
      planes.end - planes.begin, pixels, call.inputs[0].f32().data() + planes.begin,
      call.outputs[0].f32().data() + planes.begin * pixels);
}

}  // namespace

const Op global_avg_pool2d{.name = "global_avg_pool2d",
                           .onnx = "GlobalAveragePool",
                           .infer = infer,
                           .forward = forward,
                           .backward = backward,
                           .cost = cost,
                           .units = plane_units,
                           .samples = samples};

const Op global_avg_pool2d_gradient{.name = "global_avg_pool2d_gradient",
                                    .attributes = {attribute::input_size},
                                    .infer = infer_gradient,
                                    .forward = forward_gradient,
                                    .cost = cost,
                                    .units = plane_units};

}  // namespace penstock::graph
