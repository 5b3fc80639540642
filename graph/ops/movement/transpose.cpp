#include "graph/ops/movement/transpose.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute axes{"axes"};

}  // namespace attribute
namespace {

using Axes = std::vector<std::int64_t>;

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const Axes& axes = attribute::axes.of(attributes);
  Axes sorted = axes, dims;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = sorted.size() == in[0].shape.rank();
  for (std::size_t i = 0; i < sorted.size(); ++i)
    permutation = permutation && sorted[i] == static_cast<std::int64_t>(i);
  expect(permutation, "expected axes to name each axis of x " + to_string(in[0].shape) + " once");
  for (const std::int64_t axis : axes) dims.push_back(in[0].shape[axis]);
  return {{DType::f32, Shape(dims)}};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const Strides dense = dense_strides(x.shape());
  Strides from{};
  const Axes& axes = attribute::axes.of(call.attributes);
  for (std::size_t i = 0; i < axes.size(); ++i) from[i] = dense[static_cast<std::size_t>(axes[i])];
  const StridedWalk<2> walk(y.shape(), {dense_strides(y.shape()), from});
  const std::int64_t n = walk.length(), step = walk.steps()[1];
  walk.for_each_row([&](const auto& at) {
    float *row = y.f32().data() + at[0], *source = x.f32().data() + at[1];
    if (step == 1)
      std::copy_n(source, n, row);
    else
      kernel_table().arithmetic.gather(n, step, source, row);
  });
}

void backward(GradientContext& context) {
  const Axes& axes = attribute::axes.of(context.attributes());
  Axes inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  context.set(0, context.emit(transpose, {context.gradient(0)}, {{"axes", inverse}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}};
  return {{.inputs = {x}, .attributes = {{"axes", Axes{0, 2, 1, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Axes{3, 0, 2, 1}}}}};
}

}  // namespace

const Op transpose{.name = "transpose",
                   .onnx = "Transpose",
                   .attributes = {attribute::axes},
                   .infer = infer,
                   .forward = forward,
                   .backward = backward,
                   .cost = streaming_cost<0>,
                   .samples = samples};

}  // namespace penstock::graph
