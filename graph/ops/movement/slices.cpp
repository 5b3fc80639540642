#include "graph/ops/movement/slices.hpp"

#include <algorithm>

#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer_slice(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const auto axis = expect_axis(attribute::axis.of(attributes), in[0]);
  const std::int64_t begin = attribute::begin.of(attributes), end = attribute::end.of(attributes);
  const std::int64_t size = in[0].shape.begin()[axis];
  expect(begin >= 0 && begin <= end && end <= size,
         "expected 0 <= begin <= end <= " + std::to_string(size) + ", got begin " +
             std::to_string(begin) + " and end " + std::to_string(end));
  return {{DType::f32, in[0].shape.with(static_cast<std::ptrdiff_t>(axis), end - begin)}};
}

/// A SliceLines describes a slice of a tensor whose rows have row() floats. In each row, the slice
/// begins at float `begin` and has `length` floats.
struct SliceLines {
  Lines whole;
  std::int64_t begin, length;

  SliceLines(const Attributes& attributes, const Shape& whole_shape, const Shape& slice_shape)
      : whole(lines_along(whole_shape, attribute::axis.of(attributes))),
        begin(attribute::begin.of(attributes) * whole.inner),
        length(lines_along(slice_shape, attribute::axis.of(attributes)).length * whole.inner) {}
  std::int64_t row() const { return whole.length * whole.inner; }
};

void forward_slice(const KernelCall& call) {
  const SliceLines lines(call.attributes, call.inputs[0].shape(), call.outputs[0].shape());
  const float* x = call.inputs[0].f32().data() + lines.begin;
  float* y = call.outputs[0].f32().data();
  for (std::int64_t i = 0; i < lines.whole.outer; ++i)
    std::copy_n(x + i * lines.row(), lines.length, y + i * lines.length);
}

void backward_slice(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  const std::int64_t axis = attribute::axis.of(attributes);
  context.set(0, context.emit(slice_gradient, {context.gradient(0)},
                              {{"axis", axis},
                               {"begin", attribute::begin.of(attributes)},
                               {"size", context.type(context.input(0)).shape[axis]}}));
}

std::vector<OpSample> slice_samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  const auto range = [](std::int64_t axis, std::int64_t begin, std::int64_t end) {
    return Attributes{{"axis", axis}, {"begin", begin}, {"end", end}};
  };
  return {{.inputs = {x}, .attributes = range(1, 1, 3)},
          {.inputs = {x}, .attributes = range(0, 2, 3)},
          {.inputs = {x}, .attributes = range(-1, 0, 4)}};
}

std::vector<TensorType> infer_slice_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dy");
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  return {{DType::f32, in[0].shape.with(axis, attribute::size.of(attributes))}};
}

void forward_slice_gradient(const KernelCall& call) {
  const SliceLines lines(call.attributes, call.outputs[0].shape(), call.inputs[0].shape());
  const float* dy = call.inputs[0].f32().data();
  float* dx = call.outputs[0].f32().data();
  for (std::int64_t i = 0; i < lines.whole.outer; ++i, dx += lines.row(), dy += lines.length) {
    float* copied = std::fill_n(dx, lines.begin, 0.0f);
    float* behind = std::copy_n(dy, lines.length, copied);
    std::fill(behind, dx + lines.row(), 0.0f);
  }
}

std::vector<TensorType> infer_concat(const Attributes& attributes, Types in) {
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

void forward_concat(const KernelCall& call) {
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

void backward_concat(GradientContext& context) {
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

std::vector<OpSample> concat_samples() {
  const TensorType wide{DType::f32, {2, 3, 4}}, narrow{DType::f32, {2, 1, 4}};
  return {{.inputs = {wide, narrow, wide}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {wide, wide}, .attributes = {{"axis", std::int64_t{-1}}}},
          {.inputs = {wide}}};
}

}  // namespace

const Op slice{.name = "slice",
               .onnx = "Slice",
               .attributes = {attribute::axis, attribute::begin, attribute::end},
               .infer = infer_slice,
               .forward = forward_slice,
               .backward = backward_slice,
               .cost = streaming_cost<0>,
               .samples = slice_samples};

const Op slice_gradient{.name = "slice_gradient",
                        .attributes = {attribute::axis, attribute::begin, attribute::size},
                        .infer = infer_slice_gradient,
                        .forward = forward_slice_gradient,
                        .cost = streaming_cost<0>};

const Op concat{.name = "concat",
                .onnx = "Concat",
                .attributes = {attribute::axis},
                .infer = infer_concat,
                .forward = forward_concat,
                .backward = backward_concat,
                .cost = streaming_cost<0>,
                .samples = concat_samples};

}  // namespace penstock::graph
