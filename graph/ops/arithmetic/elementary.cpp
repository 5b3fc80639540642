#include "graph/ops/arithmetic/elementary.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute exponent{"exponent", 1};
constexpr RealAttribute low{"low", std::numeric_limits<float>::lowest()};
constexpr RealAttribute high{"high", std::numeric_limits<float>::max()};

}  // namespace attribute
namespace {

/// Serves as Op::forward of an op that applies `kernel` to each element.
template <ElementaryKernels::Function ElementaryKernels::*kernel>
void forward(const KernelCall& call) {
  map_elements(call, kernel_table().elementary.*kernel);
}

ValueId scaled(GradientContext& context, ValueId x, double factor) {
  return context.emit(scale, {x}, {{"factor", factor}});
}

ValueId product(GradientContext& context, ValueId a, ValueId b) {
  return context.emit(mul, {a, b});
}

// The formulas below give dx. `y` is the result of the function.

/// Serves as Op::backward: dx = dy·sign(x).
void backward_abs(GradientContext& context) {
  const ValueId slope = context.emit(sign, {context.input(0)});
  context.set(0, product(context, context.gradient(0), slope));
}

/// Serves as Op::backward: dx = dy·y.
void backward_exp(GradientContext& context) {
  context.set(0, product(context, context.gradient(0), context.output(0)));
}

/// Serves as Op::backward: dx = dy/x.
void backward_log(GradientContext& context) {
  context.set(0, context.emit(div, {context.gradient(0), context.input(0)}));
}

/// Serves as Op::backward: dx = dy/2y.
void backward_sqrt(GradientContext& context) {
  const ValueId twice = scaled(context, context.output(0), 2);
  context.set(0, context.emit(div, {context.gradient(0), twice}));
}

/// Serves as Op::backward: dx = -½·dy·y³.
void backward_rsqrt(GradientContext& context) {
  const ValueId y = context.output(0), half = scaled(context, context.gradient(0), -0.5);
  context.set(0, product(context, product(context, half, y), product(context, y, y)));
}

/// Serves as Op::backward: dx = -dy·y².
void backward_reciprocal(GradientContext& context) {
  const ValueId y = context.output(0), minus = scaled(context, context.gradient(0), -1);
  context.set(0, product(context, minus, product(context, y, y)));
}

/// Serves as Op::backward: dx = dy·cos(x).
void backward_sin(GradientContext& context) {
  const ValueId slope = context.emit(cos, {context.input(0)});
  context.set(0, product(context, context.gradient(0), slope));
}

/// Serves as Op::backward: dx = -dy·sin(x).
void backward_cos(GradientContext& context) {
  const ValueId slope = scaled(context, context.emit(sin, {context.input(0)}), -1);
  context.set(0, product(context, context.gradient(0), slope));
}

/// Serves as Op::backward: dx = dy·2/√π·exp(-x²).
void backward_erf(GradientContext& context) {
  const ValueId x = context.input(0), minus = scaled(context, product(context, x, x), -1);
  const ValueId bell = scaled(context, context.emit(exp, {minus}), 2 * std::numbers::inv_sqrtpi);
  context.set(0, product(context, context.gradient(0), bell));
}

/// Serves as Op::samples: the elements of x are drawn from [low/100, high/100).
template <int low, int high>
std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = low / 100.0, .high = high / 100.0},
          {.inputs = {{DType::f32, {70}}}, .low = low / 100.0, .high = high / 100.0}};
}

double exponent_of(const Attributes& attributes) {
  return static_cast<double>(static_cast<float>(attribute::exponent.of(attributes)));
}

std::vector<TensorType> infer_pow(const Attributes& attributes, Types in) {
  check_f32("exponent", attribute::exponent.of(attributes), any_number);
  return infer_unary(attributes, in);
}

void forward_pow(const KernelCall& call) {
  map_elements(call, [&](std::int64_t count, const float* x, float* y) {
    kernel_table().elementary.pow(count, exponent_of(call.attributes), x, y);
  });
}

/// Serves as Op::backward: dx = dy·exponent·x^(exponent-1), which is 0 for the exponent 0.
void backward_pow(GradientContext& context) {
  const double exponent = exponent_of(context.attributes());
  const ValueId dy = scaled(context, context.gradient(0), exponent);
  if (exponent == 0) return context.set(0, dy);
  const ValueId slope = context.emit(pow, {context.input(0)}, {{"exponent", exponent - 1}});
  context.set(0, product(context, dy, slope));
}

std::vector<OpSample> pow_samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .attributes = {{"exponent", 3.0}}, .low = -2, .high = -0.5},
          {.inputs = {x}, .attributes = {{"exponent", 0.5}}, .low = 0.5, .high = 3},
          {.inputs = {x}, .attributes = {{"exponent", -1.5}}, .low = 0.5, .high = 3}};
}

/// Bounds are the bounds of clamp().
struct Bounds {
  float low, high;

  explicit Bounds(const Attributes& attributes)
      : low(static_cast<float>(attribute::low.of(attributes))),
        high(static_cast<float>(attribute::high.of(attributes))) {}
};

void check_bounds(const Attributes& attributes) {
  check_f32("low", attribute::low.of(attributes), any_number);
  check_f32("high", attribute::high.of(attributes), {.low = attribute::low.of(attributes)});
}

std::vector<TensorType> infer_clamp(const Attributes& attributes, Types in) {
  check_bounds(attributes);
  return infer_unary(attributes, in);
}

void forward_clamp(const KernelCall& call) {
  const Bounds bounds(call.attributes);
  map_elements(call, [=](std::int64_t count, const float* x, float* y) {
    kernel_table().elementary.clamp(count, bounds.low, bounds.high, x, y);
  });
}

std::vector<OpSample> clamp_samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .attributes = {{"low", -0.5}, {"high", 0.7}}, .low = -0.4, .high = 0.6},
          {.inputs = {x}, .attributes = {{"low", -0.5}, {"high", 0.7}}, .low = 0.8, .high = 2},
          {.inputs = {x}, .attributes = {{"high", 0.7}}, .low = -3, .high = 0.6}};
}

std::vector<TensorType> infer_clamp_gradient(const Attributes& attributes, Types in) {
  check_bounds(attributes);
  return infer_unary_gradient(attributes, in);
}

void forward_clamp_gradient(const KernelCall& call) {
  const Bounds bounds(call.attributes);
  map_gradients(call, [=](std::int64_t count, const float* x, const float* dy, float* dx) {
    kernel_table().elementary.clamp_gradient(count, bounds.low, bounds.high, x, dy, dx);
  });
}

}  // namespace

const Op abs = elementwise({.name = "abs",
                            .onnx = "Abs",
                            .forward = forward<&ElementaryKernels::abs>,
                            .backward = backward_abs,
                            .cost = streaming_cost<1>,
                            .samples = samples<10, 200>});
const Op exp = elementwise({.name = "exp",
                            .onnx = "Exp",
                            .forward = forward<&ElementaryKernels::exp>,
                            .backward = backward_exp,
                            .cost = streaming_cost<12>,
                            .samples = samples<-200, 200>});
const Op log = elementwise({.name = "log",
                            .onnx = "Log",
                            .forward = forward<&ElementaryKernels::log>,
                            .backward = backward_log,
                            .cost = streaming_cost<15>,
                            .samples = samples<50, 400>});
const Op sqrt = elementwise({.name = "sqrt",
                             .onnx = "Sqrt",
                             .forward = forward<&ElementaryKernels::sqrt>,
                             .backward = backward_sqrt,
                             .cost = streaming_cost<6>,
                             .samples = samples<50, 400>});
const Op rsqrt = elementwise({.name = "rsqrt",
                              .forward = forward<&ElementaryKernels::rsqrt>,
                              .backward = backward_rsqrt,
                              .cost = streaming_cost<12>,
                              .samples = samples<50, 400>});
const Op reciprocal = elementwise({.name = "reciprocal",
                                   .onnx = "Reciprocal",
                                   .forward = forward<&ElementaryKernels::reciprocal>,
                                   .backward = backward_reciprocal,
                                   .cost = streaming_cost<6>,
                                   .samples = samples<50, 400>});
const Op sin = elementwise({.name = "sin",
                            .onnx = "Sin",
                            .forward = forward<&ElementaryKernels::sin>,
                            .backward = backward_sin,
                            .cost = streaming_cost<40>,
                            .samples = samples<-400, 400>});
const Op cos = elementwise({.name = "cos",
                            .onnx = "Cos",
                            .forward = forward<&ElementaryKernels::cos>,
                            .backward = backward_cos,
                            .cost = streaming_cost<40>,
                            .samples = samples<-400, 400>});
const Op erf = elementwise({.name = "erf",
                            .onnx = "Erf",
                            .forward = forward<&ElementaryKernels::erf>,
                            .backward = backward_erf,
                            .cost = streaming_cost<50>,
                            .samples = samples<-300, 300>});
const Op floor = elementwise({.name = "floor",
                              .onnx = "Floor",
                              .forward = forward<&ElementaryKernels::floor>,
                              .cost = streaming_cost<1>,
                              .samples = samples<-300, 300>,
                              .stops_gradient = true});
const Op ceil = elementwise({.name = "ceil",
                             .onnx = "Ceil",
                             .forward = forward<&ElementaryKernels::ceil>,
                             .cost = streaming_cost<1>,
                             .samples = samples<-300, 300>,
                             .stops_gradient = true});
const Op round = elementwise({.name = "round",
                              .onnx = "Round",
                              .forward = forward<&ElementaryKernels::round>,
                              .cost = streaming_cost<1>,
                              .samples = samples<-300, 300>,
                              .stops_gradient = true});
const Op sign = elementwise({.name = "sign",
                             .onnx = "Sign",
                             .forward = forward<&ElementaryKernels::sign>,
                             .cost = streaming_cost<2>,
                             .samples = samples<-300, 300>,
                             .stops_gradient = true});

const Op pow = elementwise({.name = "pow",
                            .onnx = "Pow",
                            .attributes = {attribute::exponent},
                            .infer = infer_pow,
                            .forward = forward_pow,
                            .backward = backward_pow,
                            .cost = streaming_cost<80>,
                            .samples = pow_samples});

const Op clamp = elementwise({.name = "clamp",
                              .onnx = "Clip",
                              .attributes = {attribute::low, attribute::high},
                              .infer = infer_clamp,
                              .forward = forward_clamp,
                              .backward = backward_by_input<clamp_gradient>,
                              .cost = streaming_cost<2>,
                              .samples = clamp_samples});
const Op clamp_gradient = elementwise_gradient({.name = "clamp_gradient",
                                                .attributes = {attribute::low, attribute::high},
                                                .infer = infer_clamp_gradient,
                                                .forward = forward_clamp_gradient,
                                                .cost = streaming_cost<2>});

}  // namespace penstock::graph
