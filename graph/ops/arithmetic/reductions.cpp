#include "graph/ops/arithmetic/reductions.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute axes{"axes"};
constexpr FlagAttribute keep{"keep"};
constexpr ListAttribute shape{"shape"};

}  // namespace attribute
namespace {

using Dims = std::vector<std::int64_t>;

/// Returns the shape of x with 1 in place of each axis that is reduced.
Shape kept_shape(const Attributes& attributes, const TensorType& x) {
  Shape kept = x.shape;
  for (const std::int64_t axis : attribute::axes.of(attributes))
    kept = kept.with(static_cast<std::ptrdiff_t>(expect_axis(axis, x)), 1);
  return kept;
}

std::vector<TensorType> infer_sum(const Attributes& attributes, Types in) {
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

std::vector<TensorType> infer_not_empty(const Attributes& attributes, Types in) {
  std::vector<TensorType> types = infer_sum(attributes, in);
  expect_elements(in[0], "x");
  return types;
}

/// A ReductionWalk walks through x and, at the same time, through a result whose shape, `result`,
/// broadcasts to that of x.
class ReductionWalk {
 public:
  ReductionWalk(const KernelCall& call, const Shape& result)
      : walk_(call.inputs[0].shape(), {dense_strides(call.inputs[0].shape()),
                                       broadcast_strides(result, call.inputs[0].shape())}),
        x_(call.inputs[0].f32().data()) {}

  std::int64_t length() const { return walk_.length(); }
  /// Calls `to_one(row, i)` for each row of x that is reduced to element i of the result, and
  /// `to_each(row, i)` for each row whose elements belong to the elements from i on.
  void for_each_row(const auto& to_one, const auto& to_each) const {
    const bool one = walk_.steps()[1] == 0;
    walk_.for_each_row(
        [&](const auto& at) { one ? to_one(x_ + at[0], at[1]) : to_each(x_ + at[0], at[1]); });
  }

 private:
  StridedWalk<2> walk_;
  const float* x_;
};

/// Returns the walk of an op whose attributes list the axes that are reduced.
ReductionWalk walk_over_axes(const KernelCall& call) {
  return {call, kept_shape(call.attributes, *call.inputs[0].type)};
}

/// An ElementSums says where the sums of the result's elements lie in the workspace, counted in
/// doubles: from `sums` up to but without `end`.
struct ElementSums {
  std::int64_t sums, end;

  explicit ElementSums(const Shape& result) : sums(0), end(result.elements()) {}
};

std::int64_t sums_workspace(const Attributes&, Types, Types out) {
  return ElementSums(out[0].shape).end * double_bytes;
}

/// Writes the sums of what `walk` brings together, divided by `divisor`, to output 0.
void write_sums(const KernelCall& call, const ReductionWalk& walk, double divisor) {
  const Operand& out = call.outputs[0];
  const ElementSums regions(out.shape());
  double* const sums = doubles(call.workspace) + regions.sums;
  std::fill_n(sums, regions.end, 0.0);
  const ReductionKernels& kernels = kernel_table().reductions;
  walk.for_each_row(
      [&](const float* row, std::int64_t i) { sums[i] += kernels.sum(walk.length(), row); },
      [&](const float* row, std::int64_t i) { kernels.add_to(walk.length(), row, sums + i); });
  if (divisor != 1)
    for (std::int64_t i = 0; i < out.elements(); ++i) sums[i] /= divisor;
  kernels.round(out.elements(), sums, out.f32().data());
}

void forward_sum(const KernelCall& call) {
  write_sums(call, walk_over_axes(call), 1);
}

/// Returns how many elements of the input each element of the output stands for.
double reduced_elements(const TensorType& input, const TensorType& output) {
  return static_cast<double>(input.shape.elements()) / static_cast<double>(output.shape.elements());
}

void forward_mean(const KernelCall& call) {
  write_sums(call, walk_over_axes(call),
             reduced_elements(*call.inputs[0].type, *call.outputs[0].type));
}

std::vector<TensorType> infer_reduce_to(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  const Shape shape(attribute::shape.of(attributes));
  expect(broadcasts_to(shape, in[0].shape), "expected a shape that broadcasts to " +
                                                to_string(in[0].shape) + ", got " +
                                                to_string(shape));
  return {{DType::f32, shape}};
}

void forward_reduce_to(const KernelCall& call) {
  write_sums(call, ReductionWalk(call, call.outputs[0].shape()), 1);
}

/// Writes the extrema to output 0. `better` computes the extremum of two numbers, and `best` that
/// of many; `worst` is never the extremum of different numbers.
void write_extrema(const KernelCall& call, ArithmeticKernels::Binary better,
                   ReductionKernels::Extremum best, float worst) {
  const Operand& out = call.outputs[0];
  float* const results = out.f32().data();
  kernel_table().arithmetic.fill(out.elements(), worst, results);
  const ReductionWalk walk = walk_over_axes(call);
  walk.for_each_row(
      [&](const float* row, std::int64_t i) {
        const float of_row = best(walk.length(), row);
        better(1, {results + i, false}, {&of_row, false}, results + i);
      },
      [&](const float* row, std::int64_t i) {
        better(walk.length(), {results + i, false}, {row, false}, results + i);
      });
}

void forward_amax(const KernelCall& call) {
  const KernelTable& kernels = kernel_table();
  write_extrema(call, kernels.arithmetic.maximum, kernels.reductions.largest,
                -std::numeric_limits<float>::infinity());
}

void forward_amin(const KernelCall& call) {
  const KernelTable& kernels = kernel_table();
  write_extrema(call, kernels.arithmetic.minimum, kernels.reductions.smallest,
                std::numeric_limits<float>::infinity());
}

/// Returns `value`, which has the shape of the output, repeated to the shape of x.
ValueId repeated(GradientContext& context, ValueId value) {
  const TensorType& x = context.type(context.input(0));
  const Shape kept = kept_shape(context.attributes(), x), whole = x.shape;
  const ValueId row = context.emit(reshape, {value}, {{"shape", Dims(kept.begin(), kept.end())}});
  return context.emit(expand, {row}, {{"shape", Dims(whole.begin(), whole.end())}});
}

void backward_sum(GradientContext& context) {
  context.set(0, repeated(context, context.gradient(0)));
}

void backward_mean(GradientContext& context) {
  const double count =
      reduced_elements(context.type(context.input(0)), context.type(context.output(0)));
  const ValueId share = context.emit(scale, {context.gradient(0)}, {{"factor", 1 / count}});
  context.set(0, repeated(context, share));
}

/// Each element that equals the extremum gets the gradient, divided by how many there are.
void backward_extremum(GradientContext& context) {
  const ValueId wins =
      context.emit(equal, {context.input(0), repeated(context, context.output(0))});
  const ValueId winners = context.emit(sum, {wins}, context.attributes());
  const ValueId share = context.emit(div, {context.gradient(0), winners});
  context.set(0, context.emit(mul, {wins, repeated(context, share)}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}};
  return {{.inputs = {x}, .attributes = {{"axes", Dims{1, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{-1}}, {"keep", 1}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{0, 1, 2, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{0}}}},
          {.inputs = {x}, .attributes = {{"axes", Dims{}}}}};
}

std::vector<TensorType> infer_expand(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const Shape shape(attribute::shape.of(attributes));
  expect(broadcasts_to(in[0].shape, shape),
         "expected x that broadcasts to " + to_string(shape) + ", got " + to_string(in[0].shape));
  return {{DType::f32, shape}};
}

void forward_expand(const KernelCall& call) {
  const Operand &x = call.inputs[0], &out = call.outputs[0];
  const StridedWalk<2> walk(
      out.shape(), {dense_strides(out.shape()), broadcast_strides(x.shape(), out.shape())});
  const bool repeats = walk.steps()[1] == 0;
  walk.for_each_row([&](const auto& at) {
    const float* from = x.f32().data() + at[1];
    float* to = out.f32().data() + at[0];
    if (repeats)
      kernel_table().arithmetic.fill(walk.length(), *from, to);
    else
      std::copy_n(from, walk.length(), to);
  });
}

/// Returns `op` with the fields that all reductions of this file have in common.
Op reduction(Op op) {
  op.attributes = {attribute::axes, attribute::keep};
  op.cost = streaming_cost<1>;
  op.samples = samples;
  return op;
}

}  // namespace

const Op sum = reduction({.name = "sum",
                          .onnx = "ReduceSum",
                          .infer = infer_sum,
                          .forward = forward_sum,
                          .backward = backward_sum,
                          .workspace = sums_workspace});
const Op mean = reduction({.name = "mean",
                           .onnx = "ReduceMean",
                           .infer = infer_not_empty,
                           .forward = forward_mean,
                           .backward = backward_mean,
                           .workspace = sums_workspace});
const Op amax = reduction({.name = "amax",
                           .onnx = "ReduceMax",
                           .infer = infer_not_empty,
                           .forward = forward_amax,
                           .backward = backward_extremum});
const Op amin = reduction({.name = "amin",
                           .onnx = "ReduceMin",
                           .infer = infer_not_empty,
                           .forward = forward_amin,
                           .backward = backward_extremum});

const Op reduce_to{.name = "reduce_to",
                   .attributes = {attribute::shape},
                   .infer = infer_reduce_to,
                   .forward = forward_reduce_to,
                   .cost = streaming_cost<1>,
                   .workspace = sums_workspace};

ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i) {
  const Shape& shape = context.type(context.input(i)).shape;
  if (context.type(gradient).shape == shape) return gradient;
  return context.emit(reduce_to, {gradient},
                      {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
}

const Op expand{.name = "expand",
                .onnx = "Expand",
                .attributes = {attribute::shape},
                .infer = infer_expand,
                .forward = forward_expand,
                .cost = streaming_cost<0>};

}  // namespace penstock::graph
