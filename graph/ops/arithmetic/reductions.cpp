#include "graph/ops/arithmetic/reductions.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/reduced_axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};
constexpr IntegerAttribute correction{"correction"};

}  // namespace attribute
namespace {

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

/// Returns the divisor of a mean: how many elements of the input each element of the output stands
/// for, less the correction.
std::int64_t divisor_of_mean(const Attributes& attributes, const TensorType& input,
                             const TensorType& output) {
  return input.shape.elements() / output.shape.elements() - attribute::correction.of(attributes);
}

std::vector<TensorType> infer_mean(const Attributes& attributes, Types in) {
  std::vector<TensorType> types = infer_reduced_elements(attributes, in);
  const std::int64_t correction = attribute::correction.of(attributes);
  expect(correction >= 0, "expected a correction of 0 or more, got " + std::to_string(correction));
  expect(divisor_of_mean(attributes, in[0], types[0]) > 0,
         "expected more than " + std::to_string(correction) +
             (correction == 1 ? " element" : " elements") + " along the axes, got x " +
             to_string(in[0].shape));
  return types;
}

void forward_mean(const KernelCall& call) {
  write_sums(call, walk_over_axes(call),
             static_cast<double>(
                 divisor_of_mean(call.attributes, *call.inputs[0].type, *call.outputs[0].type)));
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

void backward_sum(GradientContext& context) {
  context.set(0, repeated(context, context.gradient(0)));
}

void backward_mean(GradientContext& context) {
  const std::int64_t whole = divisor_of_mean(context.attributes(), context.type(context.input(0)),
                                             context.type(context.output(0)));
  const ValueId share =
      context.emit(scale, {context.gradient(0)}, {{"factor", 1 / static_cast<double>(whole)}});
  context.set(0, repeated(context, share));
}

std::vector<OpSample> mean_samples() {
  std::vector<OpSample> samples = reduction_samples();
  samples.push_back({.inputs = {{DType::f32, {2, 3, 4}}},
                     .attributes = {{"axes", Dims{0, -1}}, {"correction", 1}}});
  return samples;
}

/// Each element that equals the extremum gets the gradient, divided by how many there are.
void backward_extremum(GradientContext& context) {
  const ValueId wins =
      context.emit(equal, {context.input(0), repeated(context, context.output(0))});
  const ValueId winners = context.emit(sum, {wins}, context.attributes());
  const ValueId share = context.emit(div, {context.gradient(0), winners});
  context.set(0, context.emit(mul, {wins, repeated(context, share)}));
}

}  // namespace

const Op sum = reduction({.name = "sum",
                          .onnx = "ReduceSum",
                          .infer = infer_reduced,
                          .forward = forward_sum,
                          .backward = backward_sum,
                          .workspace = sums_workspace});
const Op mean = reduction({.name = "mean",
                           .onnx = "ReduceMean",
                           .attributes = {attribute::correction},
                           .infer = infer_mean,
                           .forward = forward_mean,
                           .backward = backward_mean,
                           .workspace = sums_workspace,
                           .samples = mean_samples});
const Op amax = reduction({.name = "amax",
                           .onnx = "ReduceMax",
                           .infer = infer_reduced_elements,
                           .forward = forward_amax,
                           .backward = backward_extremum});
const Op amin = reduction({.name = "amin",
                           .onnx = "ReduceMin",
                           .infer = infer_reduced_elements,
                           .forward = forward_amin,
                           .backward = backward_extremum});

const Op reduce_to{.name = "reduce_to",
                   .attributes = {attribute::shape},
                   .infer = infer_reduce_to,
                   .forward = forward_reduce_to,
                   .cost = streaming_cost<1>,
                   .workspace = sums_workspace};

ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i) {
  const Shape shape = context.type(context.input(i)).shape;
  if (context.type(gradient).shape == shape) return gradient;
  return context.emit(reduce_to, {gradient},
                      {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
}

}  // namespace penstock::graph
