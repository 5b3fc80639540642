#include "graph/ops/arithmetic/reduced_axes.hpp"

#include <string>

#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

Shape kept_shape(const Attributes& attributes, const TensorType& x) {
  Shape kept = x.shape;
  for (const std::int64_t axis : attribute::axes.of(attributes))
    kept = kept.with(static_cast<std::ptrdiff_t>(expect_axis(axis, x)), 1);
  return kept;
}

std::vector<TensorType> infer_reduced(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  std::vector<bool> reduced(in[0].shape.rank());
  for (const std::int64_t axis : attribute::axes.of(attributes)) {
    const std::size_t number = expect_axis(axis, in[0]);
    expect(!reduced[number],
           "expected each axis once, got axis " + std::to_string(axis) + " twice");
    reduced[number] = true;
  }
  if (attribute::keep.of(attributes)) return {{DType::f32, kept_shape(attributes, in[0])}};
  Dims dims;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis)
    if (!reduced[axis]) dims.push_back(in[0].shape.begin()[axis]);
  return {{DType::f32, Shape(dims)}};
}

std::vector<TensorType> infer_reduced_elements(const Attributes& attributes, Types in) {
  std::vector<TensorType> types = infer_reduced(attributes, in);
  expect_elements(in[0], "x");
  return types;
}

ReductionWalk walk_over_axes(const KernelCall& call) {
  return {call, kept_shape(call.attributes, *call.inputs[0].type)};
}

ValueId repeated(GradientContext& context, ValueId value) {
  const TensorType x = context.type(context.input(0));
  const Shape kept = kept_shape(context.attributes(), x), whole = x.shape;
  const ValueId row = context.emit(reshape, {value}, {{"shape", Dims(kept.begin(), kept.end())}});
  return context.emit(expand, {row}, {{"shape", Dims(whole.begin(), whole.end())}});
}

std::vector<OpSample> reduction_samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}};
  return {{.inputs = {x}, .attributes = {{"axes", Dims{1, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{-1}}, {"keep", 1}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{0, 1, 2, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{0}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{}}}}};
}

Op reduction(Op op) {
  op.attributes.insert(op.attributes.end(), {attribute::axes, attribute::keep});
  op.cost = streaming_cost<1>;
  if (op.samples == nullptr) op.samples = reduction_samples;
  return op;
}

}  // namespace penstock::graph
