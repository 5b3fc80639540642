#include "graph/ops/arithmetic/channel_sum.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect(in[0].shape.rank() >= 2, "expected x of rank 2 or more, got " + to_string(in[0]));
  return {{DType::f32, {in[0].shape[1]}}};
}

void forward(const KernelCall& call) {
  const Shape& shape = call.inputs[0].shape();
  const auto n = shape[0], c = shape[1],
             inner = n * c > 0 ? call.inputs[0].elements() / (n * c) : 0;
  kernel_table().reductions.channel_sums(n, c, inner, call.part, call.inputs[0].f32().data(),
                                         call.outputs[0].f32().data());
}

Cost cost(const Attributes&, Types in, Types) {
  return {.flops = static_cast<double>(in[0].shape.elements()),
          .bytes = static_cast<double>(in[0].bytes())};
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {4, 3}}}}, {.inputs = {{DType::f32, {2, 3, 4, 5}}}}};
}

}  // namespace

const Op channel_sum{.name = "channel_sum",
                     .infer = infer,
                     .forward = forward,
                     .cost = cost,
                     .units = axis_units<0>,
                     .samples = samples};

}  // namespace penstock::graph
