#include "graph/ops/movement/slice.hpp"

#include <algorithm>

#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const auto axis = expect_axis(attribute::axis.of(attributes), in[0]);
  const std::int64_t begin = attribute::begin.of(attributes), end = attribute::end.of(attributes);
  const std::int64_t size = in[0].shape.begin()[axis];
  expect(begin >= 0 && begin <= end && end <= size,
         "expected 0 <= begin <= end <= " + std::to_string(size) + ", got begin " +
             std::to_string(begin) + " and end " + std::to_string(end));
  return {{DType::f32, in[0].shape.with(static_cast<std::ptrdiff_t>(axis), end - begin)}};
}

/// Has the lines of the whole tensor along the axis, and says which part of them the slice is.
struct Part {
  Lines whole;
  std::int64_t begin, length;

  Part(const Attributes& attributes, const Shape& whole_shape, const Shape& part_shape)
      : whole(lines_along(whole_shape, attribute::axis.of(attributes))),
        begin(attribute::begin.of(attributes) * whole.inner),
        length(lines_along(part_shape, attribute::axis.of(attributes)).length * whole.inner) {}
  std::int64_t row() const { return whole.length * whole.inner; }
};

void forward(const KernelCall& call) {
  const Part part(call.attributes, call.inputs[0].shape(), call.outputs[0].shape());
  const float* x = call.inputs[0].f32().data() + part.begin;
  float* y = call.outputs[0].f32().data();
  for (std::int64_t i = 0; i < part.whole.outer; ++i)
    std::copy_n(x + i * part.row(), part.length, y + i * part.length);
}

void backward(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  const std::int64_t axis = attribute::axis.of(attributes);
  context.set(0, context.emit(slice_gradient, {context.gradient(0)},
                              {{"axis", axis},
                               {"begin", attribute::begin.of(attributes)},
                               {"size", context.type(context.input(0)).shape[axis]}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  const auto range = [](std::int64_t axis, std::int64_t begin, std::int64_t end) {
    return Attributes{{"axis", axis}, {"begin", begin}, {"end", end}};
  };
  return {{.inputs = {x}, .attributes = range(1, 1, 3)},
          {.inputs = {x}, .attributes = range(0, 2, 3)},
          {.inputs = {x}, .attributes = range(-1, 0, 4)}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dy");
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  return {{DType::f32, in[0].shape.with(axis, attribute::size.of(attributes))}};
}

void forward_gradient(const KernelCall& call) {
  const Part part(call.attributes, call.outputs[0].shape(), call.inputs[0].shape());
  const float* dy = call.inputs[0].f32().data();
  float* dx = call.outputs[0].f32().data();
  for (std::int64_t i = 0; i < part.whole.outer; ++i, dx += part.row(), dy += part.length) {
    float* copied = std::fill_n(dx, part.begin, 0.0f);
    float* behind = std::copy_n(dy, part.length, copied);
    std::fill(behind, dx + part.row(), 0.0f);
  }
}

}  // namespace

const Op slice{.name = "slice",
               .onnx = "Slice",
               .attributes = {attribute::axis, attribute::begin, attribute::end},
               .infer = infer,
               .forward = forward,
               .backward = backward,
               .cost = streaming_cost<0>,
               .samples = samples};

const Op slice_gradient{.name = "slice_gradient",
                        .attributes = {attribute::axis, attribute::begin, attribute::size},
                        .infer = infer_gradient,
                        .forward = forward_gradient,
                        .cost = streaming_cost<0>};

}  // namespace penstock::graph
