#include "graph/ops/convolution/max_pool2d.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/lanes/max_pool2d_lanes.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/pool2d.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const TensorType y = infer_pool2d(attributes, in);
  // A winner is stored as a float, which represents integers exactly up to this number.
  constexpr std::int64_t most_cells = std::int64_t{1} << 24;
  const std::int64_t cells = pool_window(attributes).cells();
  expect(cells <= most_cells, "expected a kernel of at most " + std::to_string(most_cells) +
                                  " cells, got " + std::to_string(cells));
  return {y, y};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0], &winners = call.outputs[1];
  const auto [pool, image, output] = planes_of(call, x.shape(), y.shape());
  kernel_table().pools.maximum(pool, x.f32().data() + image, y.f32().data() + output,
                               winners.f32().data() + output);
}

void backward(GradientContext& context) {
  Attributes attributes =
      with_input_size(context.attributes(), context.type(context.input(0)).shape);
  context.set(0, context.emit(max_pool2d_gradient, {context.output(1), context.gradient(0)},
                              std::move(attributes)));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  const auto cells = static_cast<double>(pool_window(attributes).cells());
  return {.flops = cells * static_cast<double>(out[0].shape.elements()),
          .bytes = static_cast<double>(in[0].bytes() + out[0].bytes() + out[1].bytes())};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "winners, dy");
  expect_shape(in[1], in[0].shape, "dy");
  return {{DType::f32, image_shape(attributes, in[1].shape)}};
}

void forward_gradient(const KernelCall& call) {
  const Operand &winners = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  const auto [pool, image, output] = planes_of(call, dx.shape(), dy.shape());
  kernel_table().pools.maximum_gradient(pool, winners.f32().data() + output,
                                        dy.f32().data() + output, dx.f32().data() + image);
}

Cost cost_gradient(const Attributes&, Types in, Types out) {
  return {.flops = static_cast<double>(in[1].shape.elements()),
          .bytes = static_cast<double>(in[0].bytes() + in[1].bytes() + out[0].bytes())};
}

// In the batch-lane layout, a winner is one byte, which can number 256 cells, all windows end in
// the padded image, and their pixels are neighbours.
LaneUse lane_use(const Attributes& attributes, Types) {
  const Window2d window = pool_window(attributes);
  const bool fits = window.cells() <= 256 && window.dilation == Pair{1, 1};
  return fits && !attribute::ceil_mode.of(attributes) ? LaneUse::follows : LaneUse::never;
}

std::vector<OpSample> samples() {
  std::vector<OpSample> samples = pool2d_samples();
  samples.push_back({.inputs = {{DType::f32, {1, 2, 6, 7}}},
                     .attributes = {{"kernel", 3}, {"stride", 2}, {"ceil_mode", 1}}});
  samples.push_back({.inputs = {{DType::f32, {2, 2, 8, 9}}},
                     .attributes = {{"kernel", std::vector<std::int64_t>{2, 3}},
                                    {"stride", 1},
                                    {"padding", 1},
                                    {"dilation", std::vector<std::int64_t>{3, 2}}}});
  return samples;
}

}  // namespace

const Op max_pool2d{
    .name = "max_pool2d",
    .onnx = "MaxPool",
    .attributes = {attribute::kernel, attribute::stride, attribute::padding, attribute::dilation,
                   attribute::ceil_mode},
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .units = plane_units,
    .lane_form = [](const Attributes&, Types) -> const Op& { return max_pool2d_lanes; },
    .lane_use = lane_use,
    .samples = samples};

const Op max_pool2d_gradient{
    .name = "max_pool2d_gradient",
    .attributes = {attribute::kernel, attribute::stride, attribute::padding, attribute::dilation,
                   attribute::ceil_mode, attribute::input_size},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = cost_gradient,
    .units = plane_units};

}  // namespace penstock::graph
