#include "graph/ops/arithmetic/arithmetic.hpp"

#include <array>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/broadcasting.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute factor{"factor", 1};
constexpr ListAttribute shape{"shape"};
constexpr RealAttribute value{"value"};
constexpr FlagAttribute loss_scaled{"loss_scaled"};

}  // namespace attribute
namespace {

void backward_add(GradientContext& context) {
  for (const std::size_t i : {0, 1})
    if (context.needs(i)) context.set(i, reduced_to_input(context, context.gradient(0), i));
}

void backward_sub(GradientContext& context) {
  const ValueId dy = context.gradient(0);
  if (context.needs(0)) context.set(0, reduced_to_input(context, dy, 0));
  if (context.needs(1))
    context.set(1, context.emit(scale, {reduced_to_input(context, dy, 1)}, {{"factor", -1.0}}));
}

void backward_mul(GradientContext& context) {
  for (const std::size_t i : {0, 1}) {
    if (!context.needs(i)) continue;
    const ValueId product = context.emit(mul, {context.gradient(0), context.input(1 - i)});
    context.set(i, reduced_to_input(context, product, i));
  }
}

/// For y = a/b, da is dy/b, and db is -da·y.
void backward_div(GradientContext& context) {
  const ValueId da = context.emit(div, {context.gradient(0), context.input(1)});
  if (context.needs(0)) context.set(0, reduced_to_input(context, da, 0));
  if (!context.needs(1)) return;
  const ValueId db = context.emit(mul, {da, context.output(0)});
  context.set(1, context.emit(scale, {reduced_to_input(context, db, 1)}, {{"factor", -1.0}}));
}

/// Serves as Op::backward of minimum and maximum. `wins` maps (a, b) to 1 where a is the result. If
/// both are, each gets half of the gradient.
template <const Op& wins, bool swapped>
void backward_extremum(GradientContext& context) {
  const ValueId a = context.input(0), b = context.input(1), dy = context.gradient(0);
  const ValueId half = context.emit(scale, {context.emit(equal, {a, b})}, {{"factor", 0.5}});
  for (const std::size_t i : {0, 1}) {
    if (!context.needs(i)) continue;
    const bool first = (i == 0) != swapped;
    const ValueId alone = context.emit(wins, {first ? a : b, first ? b : a});
    const ValueId share = context.emit(add, {alone, half});
    context.set(i, reduced_to_input(context, context.emit(mul, {dy, share}), i));
  }
}

/// Returns samples whose divisors are not near 0.
std::vector<OpSample> quotient_samples() {
  std::vector<OpSample> samples = broadcast_samples();
  for (OpSample& sample : samples) {
    sample.low = 0.5;
    sample.high = 2;
  }
  return samples;
}

/// Returns samples of so few elements that, as they are drawn, none of a is near that of b, where
/// extrema have their kink.
std::vector<OpSample> extremum_samples() {
  const auto f32 = [](const Shape& shape) { return TensorType{DType::f32, shape}; };
  return {{.inputs = {f32({33}), f32({33})}}, {.inputs = {f32({1, 3}), f32({2, 2, 1})}}};
}

/// Returns `op`, a comparison, with the fields that all comparisons have in common. No gradient
/// goes back from them.
Op comparison(Op op) {
  op.infer = infer_broadcast;
  op.cost = streaming_cost<1>;
  op.units = broadcast_units;
  op.overwrites = {{0, 0}, {1, 0}};
  op.samples = broadcast_samples;
  op.broadcasts = true;
  op.stops_gradient = true;
  return op;
}

std::vector<TensorType> infer_where(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "condition, a, b");
  const TensorType values = infer_broadcast(attributes, in.subspan(1))[0];
  const TensorType pair[] = {in[0], values};
  return infer_broadcast(attributes, pair);
}

void forward_where(const KernelCall& call) {
  const Operand& out = call.outputs[0];
  std::array<Strides, 4> strides{dense_strides(out.shape())};
  for (std::size_t i = 0; i < 3; ++i)
    strides[i + 1] = broadcast_strides(call.inputs[i].shape(), out.shape());
  const StridedWalk<4> walk(out.shape(), strides);
  const auto operand = [&](std::size_t i, std::int64_t at) {
    return RowOperand{call.inputs[i].f32().data() + at, walk.steps()[i + 1] == 0};
  };
  walk.for_each_row([&](const auto& at) {
    kernel_table().arithmetic.select(walk.length(), operand(0, at[1]), operand(1, at[2]),
                                     operand(2, at[3]), out.f32().data() + at[0]);
  });
}

/// Emits da, which is dy where the condition is not 0 and 0 elsewhere, and db, the other way round.
/// The condition has no gradient.
void backward_where(GradientContext& context) {
  const ValueId condition = context.input(0), dy = context.gradient(0);
  const ValueId zero = context.emit(fill, {});
  if (context.needs(1))
    context.set(1, reduced_to_input(context, context.emit(where, {condition, dy, zero}), 1));
  if (context.needs(2))
    context.set(2, reduced_to_input(context, context.emit(where, {condition, zero, dy}), 2));
}

std::vector<OpSample> where_samples() {
  const auto f32 = [](const Shape& shape) { return TensorType{DType::f32, shape}; };
  return {{.inputs = {f32({4, 5}), f32({4, 5}), f32({4, 5})}},
          {.inputs = {f32({4, 1}), f32({5}), f32({2, 4, 5})}},
          {.inputs = {f32({3, 4}), f32({}), f32({4})}}};
}

std::vector<TensorType> infer_scale(const Attributes& attributes, Types in) {
  check_f32("factor", attribute::factor.of(attributes), any_number);
  return infer_unary(attributes, in);
}

void forward_scale(const KernelCall& call) {
  const auto factor = static_cast<float>(attribute::factor.of(call.attributes));
  map_elements(call, [=](std::int64_t count, const float* x, float* y) {
    kernel_table().arithmetic.scale(count, factor, x, y);
  });
}

void backward_scale(GradientContext& context) {
  context.set(0, context.emit(scale, {context.gradient(0)}, context.attributes()));
}

std::vector<OpSample> scale_samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .attributes = {{"factor", -0.7}}}};
}

std::vector<TensorType> infer_fill(const Attributes& attributes, Types in) {
  expect_inputs(in, 0, "");
  return {{DType::f32, Shape(attribute::shape.of(attributes))}};
}

void forward_fill(const KernelCall& call) {
  const Operand& out = call.outputs[0];
  const auto [first, count] = ElementRange(call, out.elements());
  const double scale =
      attribute::loss_scaled.of(call.attributes) ? static_cast<double>(call.loss_scale) : 1.0;
  const double value = attribute::value.of(call.attributes) * scale;
  kernel_table().arithmetic.fill(count, static_cast<float>(value), out.f32().data() + first);
}

Cost fill_cost(const Attributes&, Types, Types out) {
  return {.bytes = static_cast<double>(out[0].bytes())};
}

std::vector<OpSample> fill_samples() {
  return {{.attributes = {{"shape", std::vector<std::int64_t>{3, 7}}, {"value", 0.5}}},
          {.attributes = {{"value", 1.0}, {"loss_scaled", std::int64_t{1}}}}};
}

}  // namespace

const Op add{.name = "add",
             .onnx = "Add",
             .infer = infer_broadcast,
             .forward = forward_broadcast<&ArithmeticKernels::add>,
             .backward = backward_add,
             .cost = streaming_cost<1>,
             .units = broadcast_units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = broadcast_samples,
             .broadcasts = true};

const Op sub{.name = "sub",
             .onnx = "Sub",
             .infer = infer_broadcast,
             .forward = forward_broadcast<&ArithmeticKernels::subtract>,
             .backward = backward_sub,
             .cost = streaming_cost<1>,
             .units = broadcast_units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = broadcast_samples,
             .broadcasts = true};

const Op mul{.name = "mul",
             .onnx = "Mul",
             .infer = infer_broadcast,
             .forward = forward_broadcast<&ArithmeticKernels::multiply>,
             .backward = backward_mul,
             .cost = streaming_cost<1>,
             .units = broadcast_units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = broadcast_samples,
             .broadcasts = true};

const Op div{.name = "div",
             .onnx = "Div",
             .infer = infer_broadcast,
             .forward = forward_broadcast<&ArithmeticKernels::divide>,
             .backward = backward_div,
             .cost = streaming_cost<6>,
             .units = broadcast_units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = quotient_samples,
             .broadcasts = true};

const Op minimum{.name = "minimum",
                 .onnx = "Min",
                 .infer = infer_broadcast,
                 .forward = forward_broadcast<&ArithmeticKernels::minimum>,
                 .backward = backward_extremum<less, false>,
                 .cost = streaming_cost<2>,
                 .units = broadcast_units,
                 .overwrites = {{0, 0}, {1, 0}},
                 .samples = extremum_samples,
                 .broadcasts = true};

const Op maximum{.name = "maximum",
                 .onnx = "Max",
                 .infer = infer_broadcast,
                 .forward = forward_broadcast<&ArithmeticKernels::maximum>,
                 .backward = backward_extremum<less, true>,
                 .cost = streaming_cost<2>,
                 .units = broadcast_units,
                 .overwrites = {{0, 0}, {1, 0}},
                 .samples = extremum_samples,
                 .broadcasts = true};

const Op equal = comparison(
    {.name = "equal", .onnx = "Equal", .forward = forward_broadcast<&ArithmeticKernels::equal>});
const Op less = comparison(
    {.name = "less", .onnx = "Less", .forward = forward_broadcast<&ArithmeticKernels::less>});
const Op less_equal = comparison({.name = "less_equal",
                                  .onnx = "LessOrEqual",
                                  .forward = forward_broadcast<&ArithmeticKernels::less_equal>});

const Op where{.name = "where",
               .onnx = "Where",
               .infer = infer_where,
               .forward = forward_where,
               .backward = backward_where,
               .cost = streaming_cost<1>,
               .samples = where_samples,
               .constant_inputs = {0},
               .broadcasts = true};

const Op scale{.name = "scale",
               .attributes = {attribute::factor},
               .infer = infer_scale,
               .forward = forward_scale,
               .backward = backward_scale,
               .cost = streaming_cost<1>,
               .units = element_units,
               .overwrites = {{0, 0}},
               .samples = scale_samples};

const Op fill{.name = "fill",
              .attributes = {attribute::shape, attribute::value, attribute::loss_scaled},
              .infer = infer_fill,
              .forward = forward_fill,
              .cost = fill_cost,
              .units = element_units,
              .samples = fill_samples};

}  // namespace penstock::graph
