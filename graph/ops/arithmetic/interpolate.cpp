#include "graph/ops/arithmetic/interpolate.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute size{"size"};
constexpr RealAttribute scale_factor{"scale_factor"};
constexpr FlagAttribute align_corners{"align_corners"};

}  // namespace attribute
namespace {

/// A Blend is one element of the result: `first_weight` times the element `first` of a line of x,
/// plus `second_weight` times the element `second`, which is the next one if there is one.
struct Blend {
  std::int64_t first, second;
  float first_weight, second_weight;
};

/// Returns the place along the axis at which element `i` of the result is. Element 0 of x is at
/// place 0, element 1 at place 1 and so on.
double place_of(const Attributes& attributes, std::int64_t inputs, std::int64_t outputs,
                std::int64_t i) {
  const auto before = static_cast<double>(i);
  if (attribute::align_corners.of(attributes))
    return outputs == 1
               ? 0
               : static_cast<double>(inputs - 1) / static_cast<double>(outputs - 1) * before;
  const double factor = attribute::scale_factor.of(attributes);
  const double step =
      factor > 0 ? 1 / factor : static_cast<double>(inputs) / static_cast<double>(outputs);
  return std::max(0.0, step * (before + 0.5) - 0.5);
}

Blend blend_of(const Attributes& attributes, std::int64_t inputs, std::int64_t outputs,
               std::int64_t i) {
  if (inputs == outputs) return {i, i, 1, 0};  // PyTorch ignores the scale factor then.
  const double place = place_of(attributes, inputs, outputs, i);
  const auto last = static_cast<double>(inputs - 1);
  const auto first = static_cast<std::int64_t>(std::min(place, last));
  const double second_weight = std::min(1.0, place - static_cast<double>(first));
  return {first, std::min(first + 1, inputs - 1), static_cast<float>(1 - second_weight),
          static_cast<float>(second_weight)};
}

/// Writes the blends of all elements of the result along the axis to the workspace, and returns
/// them.
std::span<const Blend> blends(const KernelCall& call, std::int64_t inputs, std::int64_t outputs) {
  auto* const all = reinterpret_cast<Blend*>(call.workspace.data());
  for (std::int64_t i = 0; i < outputs; ++i) all[i] = blend_of(call.attributes, inputs, outputs, i);
  return {all, static_cast<std::size_t>(outputs)};
}

std::int64_t blend_bytes(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(Blend));
}

/// Checks x or dy and the attributes, and returns the type of what is computed.
std::vector<TensorType> infer_of(const Attributes& attributes, Types in, std::string_view name) {
  expect_inputs(in, 1, name);
  expect_dtype(in[0], DType::f32, name);
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  const std::int64_t size = attribute::size.of(attributes);
  expect(size >= 1 && in[0].shape[axis] >= 1,
         "expected 1 element or more along axis " + std::to_string(axis) + ", got " +
             std::to_string(in[0].shape[axis]) + " before and " + std::to_string(size) +
             " after the interpolation");
  check_f32("scale_factor", attribute::scale_factor.of(attributes), {});
  return {{DType::f32, in[0].shape.with(axis, size)}};
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  return infer_of(attributes, in, "x");
}

std::int64_t workspace(const Attributes& attributes, Types, Types out) {
  return blend_bytes(lines_of(attributes, out[0].shape).length);
}

void forward(const KernelCall& call) {
  const Lines from = lines_of(call.attributes, call.inputs[0].shape());
  const Lines to = lines_of(call.attributes, call.outputs[0].shape());
  const auto all = blends(call, from.length, to.length);
  const Part part = within(call.part, from.outer);
  float* y = call.outputs[0].f32().data() + part.begin * to.length * to.inner;
  for (std::int64_t line = part.begin; line < part.end; ++line) {
    const float* const x = call.inputs[0].f32().data() + line * from.length * from.inner;
    for (const Blend& blend : all) {
      const float *first = x + blend.first * from.inner, *second = x + blend.second * from.inner;
      for (std::int64_t k = 0; k < from.inner; ++k)
        y[k] = blend.first_weight * first[k] + blend.second_weight * second[k];
      y += to.inner;
    }
  }
}

void backward(GradientContext& context) {
  Attributes attributes = context.attributes();
  const std::int64_t axis = attribute::axis.of(attributes);
  attributes.set("size", context.type(context.input(0)).shape[axis]);
  context.set(0, context.emit(interpolate_gradient, {context.gradient(0)}, std::move(attributes)));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}, {"size", 8}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"size", 9}, {"align_corners", 1}}},
          {.inputs = {x}, .attributes = {{"axis", 1}, {"size", 3}, {"scale_factor", 0.7}}},
          {.inputs = {x}, .attributes = {{"axis", 2}, {"size", 10}, {"scale_factor", 2.5}}},
          {.inputs = {x}, .attributes = {{"size", 1}, {"align_corners", 1}}},
          {.inputs = {x}, .attributes = {{"axis", 1}, {"size", 5}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  return infer_of(attributes, in, "dy");
}

std::int64_t workspace_gradient(const Attributes& attributes, Types in, Types) {
  return blend_bytes(lines_of(attributes, in[0].shape).length);
}

void forward_gradient(const KernelCall& call) {
  const Lines from = lines_of(call.attributes, call.inputs[0].shape());
  const Lines to = lines_of(call.attributes, call.outputs[0].shape());
  const auto all = blends(call, to.length, from.length);
  const Part part = within(call.part, from.outer);
  const float* dy = call.inputs[0].f32().data() + part.begin * from.length * from.inner;
  float* const dx = call.outputs[0].f32().data() + part.begin * to.length * to.inner;
  std::fill_n(dx, (part.end - part.begin) * to.length * to.inner, 0.0f);
  for (std::int64_t line = 0; line < part.end - part.begin; ++line) {
    float* const x = dx + line * to.length * to.inner;
    for (const Blend& blend : all) {
      float *first = x + blend.first * to.inner, *second = x + blend.second * to.inner;
      for (std::int64_t k = 0; k < from.inner; ++k) {
        first[k] += blend.first_weight * dy[k];
        second[k] += blend.second_weight * dy[k];
      }
      dy += from.inner;
    }
  }
}

}  // namespace

const Op interpolate{.name = "interpolate",
                     .onnx = "Resize",
                     .attributes = {attribute::axis, attribute::size, attribute::scale_factor,
                                    attribute::align_corners},
                     .infer = infer,
                     .forward = forward,
                     .backward = backward,
                     .cost = streaming_cost<3>,
                     .workspace = workspace,
                     .units = outer_units,
                     .samples = samples};

const Op interpolate_gradient{.name = "interpolate_gradient",
                              .attributes = {attribute::axis, attribute::size,
                                             attribute::scale_factor, attribute::align_corners},
                              .infer = infer_gradient,
                              .forward = forward_gradient,
                              .cost = streaming_cost<4>,
                              .workspace = workspace_gradient,
                              .units = outer_units};

}  // namespace penstock::graph
