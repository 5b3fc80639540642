#include "graph/ops/movement/concat.hpp"

#include <algorithm>

#include "graph/ops/movement/slice.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect(!in.empty(), "expected 1 input or more, got 0");
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  std::int64_t size = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    expect_dtype(in[i], DType::f32, name);
    expect_rank(in[i], in[0].shape.rank(), name);
    expect_shape(in[i], in[0].shape.with(axis, in[i].shape[axis]), name);
    size += in[i].shape[axis];
  }
  return {{DType::f32, in[0].shape.with(axis, size)}};
}

void forward(const KernelCall& call) {
  const std::int64_t axis = attribute::axis.of(call.attributes);
  const Lines whole = lines_along(call.outputs[0].shape(), axis);
  float* y = call.outputs[0].f32().data();
  for (const Operand& x : call.inputs) {
    const std::int64_t row = lines_along(x.shape(), axis).length * whole.inner;
    for (std::int64_t i = 0; i < whole.outer; ++i)
      std::copy_n(x.f32().data() + i * row, row, y + i * whole.length * whole.inner);
    y += row;
  }
}

void backward(GradientContext& context) {
  const std::int64_t axis = attribute::axis.of(context.attributes());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const std::int64_t end = begin + context.type(context.input(i)).shape[axis];
    if (context.needs(i))
      context.set(i, context.emit(slice, {context.gradient(0)},
                                  {{"axis", axis}, {"begin", begin}, {"end", end}}));
    begin = end;
  }
}

std::vector<OpSample> samples() {
  const TensorType wide{DType::f32, {2, 3, 4}}, narrow{DType::f32, {2, 1, 4}};
  return {{.inputs = {wide, narrow, wide}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {wide, wide}, .attributes = {{"axis", std::int64_t{-1}}}},
          {.inputs = {wide}}};
}

}  // namespace

const Op concat{.name = "concat",
                .onnx = "Concat",
                .attributes = {attribute::axis},
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = streaming_cost<0>,
                .samples = samples};

}  // namespace penstock::graph
