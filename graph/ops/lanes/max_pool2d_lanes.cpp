#include "graph/ops/lanes/max_pool2d_lanes.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/pool2d.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_lanes(in[0], 5, "x");
  const TensorType y{DType::f32, pooled_shape(attributes, in[0])};
  constexpr std::int64_t most_cells = 256;  // A winner is a byte, which has 256 values.
  const std::int64_t cells = pool_window(attributes).cells();
  expect(cells <= most_cells, "expected a kernel of at most " + std::to_string(most_cells) +
                                  " cells, got " + std::to_string(cells));
  return {y, {DType::f32, y.shape.with(-1, winner_floats)}};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0], &winners = call.outputs[1];
  const auto [pool, image, output] = planes_of(call, x.shape(), y.shape());
  kernel_table().lanes.pool_maximum(pool, x.f32().data() + image, y.f32().data() + output,
                                    winners_of(winners) + output);
}

void backward(GradientContext& context) {
  Attributes attributes =
      with_input_size(context.attributes(), context.type(context.input(0)).shape);
  context.set(0, context.emit(max_pool2d_lanes_gradient, {context.output(1), context.gradient(0)},
                              std::move(attributes)));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  Cost cost = streaming_cost<0>(attributes, in, out);
  cost.flops = static_cast<double>(pool_window(attributes).cells() * out[0].shape.elements());
  return cost;
}

std::vector<OpSample> samples() {
  std::vector<OpSample> samples = pool2d_samples();
  for (OpSample& sample : samples) sample.inputs[0].shape = lane_shape(sample.inputs[0].shape);
  return samples;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "winners, dy");
  expect_shape(in[0], in[1].shape.with(-1, winner_floats), "winners");
  return {{DType::f32, image_shape(attributes, in[1].shape)}};
}

void forward_gradient(const KernelCall& call) {
  const Operand &winners = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  const auto [pool, image, output] = planes_of(call, dx.shape(), dy.shape());
  kernel_table().lanes.pool_maximum_gradient(pool, winners_of(winners) + output,
                                             dy.f32().data() + output, dx.f32().data() + image);
}

bool halves_image(const Attributes& attributes) {
  const Window2d window = pool_window(attributes);
  return window.kernel == Pair{2, 2} && window.stride == Pair{2, 2} && window.padding == Pair{0, 0};
}

}  // namespace

const Op max_pool2d_lanes{.name = "max_pool2d_lanes",
                          .attributes = {attribute::kernel, attribute::stride, attribute::padding},
                          .infer = infer,
                          .forward = forward,
                          .backward = backward,
                          .cost = cost,
                          .units = plane_units,
                          .samples = samples,
                          .halves_image = halves_image};

const Op max_pool2d_lanes_gradient{
    .name = "max_pool2d_lanes_gradient",
    .attributes = {attribute::kernel, attribute::stride, attribute::padding, attribute::input_size},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = streaming_cost<1>,
    .units = plane_units};

}  // namespace penstock::graph
