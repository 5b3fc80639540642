#include "graph/ops/movement/identity.hpp"

#include "graph/ops/rules/copy.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void forward(const KernelCall& call) {
  copy(call.inputs[0], call.outputs[0]);
}

void backward(GradientContext& context) {
  context.set(0, context.gradient(0));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}}};
}

}  // namespace

const Op identity{.name = "identity",
                  .onnx = "Identity",
                  .infer = infer_unary,
                  .forward = forward,
                  .backward = backward,
                  .cost = streaming_cost<0>,
                  .overwrites = {{0, 0}},
                  .samples = samples};

}  // namespace penstock::graph
