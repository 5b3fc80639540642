#include "graph/ops/arithmetic/accumulate.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute running{"running"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 2, "sum, x");
  expect_dtype(in[0], DType::f32, "sum");
  expect_dtype(in[1], DType::f32, "x");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward(const KernelCall& call) {
  const Operand &sum = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  const auto [first, count] = ElementRange(call, out.elements());
  const float *from = sum.f32().data() + first, *more = x.f32().data() + first;
  float* const to = out.f32().data() + first;
  if (!attribute::running.of(call.attributes)) {
    kernel_table().arithmetic.add(count, {from, false}, {more, false}, to);
    return;
  }
  const auto k = static_cast<double>(call.summed);
  kernel_table().arithmetic.blend(count, static_cast<float>(k / (k + 1)), from,
                                  static_cast<float>(1 / (k + 1)), more, to);
}

Cost cost(const Attributes&, Types in, Types) {
  return {.flops = static_cast<double>(in[0].shape.elements()),
          .bytes = 3.0 * static_cast<double>(in[0].bytes())};
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x, x}}, {.inputs = {x, x}, .attributes = {{"running", std::int64_t{1}}}}};
}

}  // namespace

const Op accumulate{.name = "accumulate",
                    .attributes = {attribute::running},
                    .infer = infer,
                    .forward = forward,
                    .cost = cost,
                    .units = element_units,
                    .updates = {{0, 0}},
                    .samples = samples};

}  // namespace penstock::graph
