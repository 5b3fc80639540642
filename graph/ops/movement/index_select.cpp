#include "graph/ops/movement/index_select.hpp"

#include <algorithm>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute indices{"indices"};
constexpr IntegerAttribute size{"size"};

}  // namespace attribute
namespace {

using Indices = std::vector<std::int64_t>;

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  const Indices& indices = attribute::indices.of(attributes);
  const std::int64_t size = in[0].shape[axis];
  const auto is_outside = [&](std::int64_t i) { return i < 0 || i >= size; };
  if (const auto found = std::ranges::find_if(indices, is_outside); found != indices.end())
    expect(false, "expected indices from 0 to " + std::to_string(size - 1) + " along axis " +
                      std::to_string(axis) + " of x " + to_string(in[0].shape) + ", got " +
                      std::to_string(*found));
  return {{dtype, in[0].shape.with(axis, std::ssize(indices))}};
}

void forward(const KernelCall& call) {
  const Indices& indices = attribute::indices.of(call.attributes);
  const Lines lines = lines_of(call.attributes, call.inputs[0].shape());
  const Part part = within(call.part, lines.outer);
  move_elements(call, [&](const auto* x, auto* y) {
    x += part.begin * lines.length * lines.inner;
    y += part.begin * std::ssize(indices) * lines.inner;
    for (std::int64_t i = part.begin; i < part.end; ++i, x += lines.length * lines.inner)
      for (const std::int64_t index : indices)
        y = std::copy_n(x + index * lines.inner, lines.inner, y);
  });
}

void backward(GradientContext& context) {
  const std::int64_t axis = attribute::axis.of(context.attributes());
  context.set(0, context.emit(index_select_gradient, {context.gradient(0)},
                              {{"axis", axis},
                               {"indices", attribute::indices.of(context.attributes())},
                               {"size", context.type(context.input(0)).shape[axis]}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}, {"indices", Indices{4, 0, 0, 2}}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"indices", Indices{3, 2, 1, 0, 3, 1}}}},
          {.inputs = {x}, .attributes = {{"indices", Indices{1}}}},
          {.inputs = {x}, .attributes = {{"axis", 1}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dy");
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  return {{DType::f32, in[0].shape.with(axis, attribute::size.of(attributes))}};
}

void add_at(std::int64_t count, const float* dy, float* dx) {
  if (count == 1)
    *dx += *dy;
  else
    kernel_table().arithmetic.add(count, {dx, false}, {dy, false}, dx);
}

void forward_gradient(const KernelCall& call) {
  const Indices& indices = attribute::indices.of(call.attributes);
  const Lines lines = lines_of(call.attributes, call.outputs[0].shape());
  const Part part = within(call.part, lines.outer);
  const std::int64_t row = lines.length * lines.inner;
  const float* dy = call.inputs[0].f32().data() + part.begin * std::ssize(indices) * lines.inner;
  float* dx = call.outputs[0].f32().data() + part.begin * row;
  std::fill_n(dx, (part.end - part.begin) * row, 0.0f);
  for (std::int64_t i = part.begin; i < part.end; ++i, dx += row)
    for (const std::int64_t index : indices) {
      add_at(lines.inner, dy, dx + index * lines.inner);
      dy += lines.inner;
    }
}

}  // namespace

const Op index_select{.name = "index_select",
                      .onnx = "Gather",
                      .attributes = {attribute::axis, attribute::indices},
                      .infer = infer,
                      .forward = forward,
                      .backward = backward,
                      .cost = streaming_cost<0>,
                      .units = outer_units,
                      .samples = samples};

const Op index_select_gradient{.name = "index_select_gradient",
                               .attributes = {attribute::axis, attribute::indices, attribute::size},
                               .infer = infer_gradient,
                               .forward = forward_gradient,
                               .cost = streaming_cost<1>,
                               .units = outer_units};

}  // namespace penstock::graph
