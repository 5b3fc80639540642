#include "graph/ops/lanes/channel_sum_lanes.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_lanes(in[0], 5, "x");
  return {{DType::f32, {in[0].shape[1]}}};
}

void forward(const KernelCall& call) {
  const Shape& x = call.inputs[0].shape();
  kernel_table().lanes.channel_sums({x[0], x[1], x[2], x[3]}, call.part,
                                    call.inputs[0].f32().data(), call.outputs[0].f32().data());
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {2, 3, 4, 5, 16}}}},
          {.inputs = {{DType::f32, {1, 7, 3, 1, 16}}}}};
}

}  // namespace

const Op channel_sum_lanes{.name = "channel_sum_lanes",
                           .infer = infer,
                           .forward = forward,
                           .cost = streaming_cost<1>,
                           .units = axis_units<0>,
                           .samples = samples};

}  // namespace penstock::graph
