#include "graph/ops/identity.hpp"

#include <cstring>

#include "graph/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  return {in[0]};
}

void forward(const KernelCall& call) {
  const auto& x = call.inputs[0];
  if (call.outputs[0].data != x.data)
    std::memcpy(call.outputs[0].data, x.data, static_cast<std::size_t>(x.type->bytes()));
}

void backward(GradientContext& context) {
  context.set(0, context.gradient(0));
}

Cost cost(const Attributes&, Types in, Types) {
  return {.bytes = 2.0 * static_cast<double>(in[0].bytes())};
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}}};
}

}  // namespace

const Op identity{.name = "identity",
                  .onnx = "Identity",
                  .infer = infer,
                  .forward = forward,
                  .backward = backward,
                  .cost = cost,
                  .overwrites = {{0, 0}},
                  .samples = samples};

}  // namespace penstock::graph
