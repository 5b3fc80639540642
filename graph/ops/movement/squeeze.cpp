#include "graph/ops/movement/squeeze.hpp"

#include <algorithm>

#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"

namespace penstock::graph {

namespace {

using Dims = std::vector<std::int64_t>;

std::vector<TensorType> infer_squeeze(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const std::size_t axis = expect_axis(attribute::axis.of(attributes), in[0]);
  const auto x = in[0].shape.dims();
  expect(x[axis] == 1, "expected x with one element along axis " + std::to_string(axis) + ", got " +
                           to_string(in[0].shape));
  Dims dims(x.begin(), x.end());
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return {{dtype, Shape(dims)}};
}

std::vector<TensorType> infer_unsqueeze(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const auto x = in[0].shape.dims();
  Dims dims(x.begin(), x.end());
  dims.push_back(1);
  const std::size_t axis = expect_axis(attribute::axis.of(attributes), {dtype, Shape(dims)});
  std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end() - 1, dims.end());
  return {{dtype, Shape(dims)}};
}

/// Gives the gradient back the shape of x by `op`, at the same axis.
void backward_by(const Op& op, GradientContext& context) {
  context.set(0, context.emit(op, {context.gradient(0)},
                              {{"axis", attribute::axis.of(context.attributes())}}));
}

void backward_squeeze(GradientContext& context) {
  backward_by(unsqueeze, context);
}

void backward_unsqueeze(GradientContext& context) {
  backward_by(squeeze, context);
}

std::vector<OpSample> squeeze_samples() {
  const TensorType x{DType::f32, {2, 1, 4, 1}};
  return {{.inputs = {x}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {x}, .attributes = {{"axis", std::int64_t{-1}}}}};
}

std::vector<OpSample> unsqueeze_samples() {
  const TensorType x{DType::f32, {2, 3}};
  return {{.inputs = {x}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {x}, .attributes = {{"axis", std::int64_t{-1}}}}};
}

}  // namespace

const Op squeeze{.name = "squeeze",
                 .onnx = "Squeeze",
                 .attributes = {attribute::axis},
                 .infer = infer_squeeze,
                 .forward = forward_copy,
                 .backward = backward_squeeze,
                 .cost = streaming_cost<0>,
                 .overwrites = {{0, 0}},
                 .samples = squeeze_samples,
                 .keeps_elements = true};

const Op unsqueeze{.name = "unsqueeze",
                   .onnx = "Unsqueeze",
                   .attributes = {attribute::axis},
                   .infer = infer_unsqueeze,
                   .forward = forward_copy,
                   .backward = backward_unsqueeze,
                   .cost = streaming_cost<0>,
                   .overwrites = {{0, 0}},
                   .samples = unsqueeze_samples,
                   .keeps_elements = true};

}  // namespace penstock::graph
