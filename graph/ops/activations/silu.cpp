#include "graph/ops/activations/silu.hpp"

#include <algorithm>

#include "graph/kernels/eigen.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void forward(const KernelCall& call) {
  const auto x = array(call.inputs[0]);
  array(call.outputs[0]) = x / (1.0f + (-x).exp());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(silu_gradient, {context.input(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -4, .high = 4},
          {.inputs = {{DType::f32, {700}}}}};
}

void forward_gradient(const KernelCall& call) {
  constexpr Eigen::Index block = 512;
  const auto x = array(call.inputs[0]), dy = array(call.inputs[1]);
  auto dx = array(call.outputs[0]);
  for (Eigen::Index i = 0; i < x.size(); i += block) {
    const Eigen::Index n = std::min(block, x.size() - i);
    const Eigen::Array<float, Eigen::Dynamic, 1, 0, block, 1> s =
        1.0f / (1.0f + (-x.segment(i, n)).exp());
    dx.segment(i, n) = dy.segment(i, n) * s * (1.0f + x.segment(i, n) * (1.0f - s));
  }
}

}  // namespace

const Op silu{.name = "silu",
              .infer = infer_unary,
              .forward = forward,
              .backward = backward,
              .cost = streaming_cost<13>,
              .overwrites = {{0, 0}},
              .lane_form = []() -> const Op& { return silu; },
              .lane_use = follow_lanes,
              .samples = samples};

const Op silu_gradient{.name = "silu_gradient",
                       .infer = infer_unary_gradient,
                       .forward = forward_gradient,
                       .cost = streaming_cost<17>,
                       .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
