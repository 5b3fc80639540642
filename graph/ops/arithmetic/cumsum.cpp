#include "graph/ops/arithmetic/cumsum.hpp"

#include <algorithm>

#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute reverse{"reverse"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  std::vector<TensorType> out = infer_unary(attributes, in);
  expect_axis(attribute::axis.of(attributes), in[0]);
  return out;
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  return lines_of(attributes, in[0].shape).inner * double_bytes;
}

void forward(const KernelCall& call) {
  const Lines lines = lines_of(call.attributes, call.inputs[0].shape());
  const bool reverse = attribute::reverse.of(call.attributes);
  double* const sums = doubles(call.workspace);
  const Part part = within(call.part, lines.outer);
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    std::fill_n(sums, lines.inner, 0.0);
    for (std::int64_t j = 0; j < lines.length; ++j) {
      const std::int64_t at = i * lines.length + (reverse ? lines.length - 1 - j : j);
      const float* x = call.inputs[0].f32().data() + at * lines.inner;
      float* y = call.outputs[0].f32().data() + at * lines.inner;
      for (std::int64_t k = 0; k < lines.inner; ++k)
        y[k] = static_cast<float>(sums[k] += static_cast<double>(x[k]));
    }
  }
}

void backward(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  context.set(0, context.emit(cumsum, {context.gradient(0)},
                              {{"axis", attribute::axis.of(attributes)},
                               {"reverse", std::int64_t{!attribute::reverse.of(attributes)}}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"reverse", 1}}},
          {.inputs = {x}}};
}

}  // namespace

const Op cumsum{.name = "cumsum",
                .onnx = "CumSum",
                .attributes = {attribute::axis, attribute::reverse},
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = streaming_cost<1>,
                .workspace = workspace,
                .units = outer_units,
                .overwrites = {{0, 0}},
                .samples = samples};

}  // namespace penstock::graph
