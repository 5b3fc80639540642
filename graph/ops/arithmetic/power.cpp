#include "graph/ops/arithmetic/power.hpp"

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/broadcasting.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {
namespace {

/// Emits dy·b·a^(b-1), or 0 where b is 0.
ValueId gradient_of_base(GradientContext& context, ValueId zero) {
  const ValueId a = context.input(0), b = context.input(1), dy = context.gradient(0);
  const ValueId one = context.emit(fill, {}, {{"value", 1.0}});
  const ValueId lower = context.emit(power, {a, context.emit(sub, {b, one})});
  const ValueId slope = context.emit(mul, {b, lower});
  return context.emit(where, {b, context.emit(mul, {dy, slope}), zero});
}

/// Emits dy·a^b·log a, or 0 where a is 0 and b is not negative.
ValueId gradient_of_exponent(GradientContext& context, ValueId zero) {
  const ValueId a = context.input(0), b = context.input(1), dy = context.gradient(0);
  const ValueId slope = context.emit(mul, {context.output(0), context.emit(log, {a})});
  const ValueId no_base = context.emit(equal, {a, zero});
  const ValueId constant = context.emit(mul, {no_base, context.emit(less_equal, {zero, b})});
  return context.emit(mul, {dy, context.emit(where, {constant, zero, slope})});
}

void backward(GradientContext& context) {
  const ValueId zero = context.emit(fill, {});
  if (context.needs(0))
    context.set(0, reduced_to_input(context, gradient_of_base(context, zero), 0));
  if (context.needs(1))
    context.set(1, reduced_to_input(context, gradient_of_exponent(context, zero), 1));
}

/// Serves as Op::samples: powers of numbers that are not near 0.
std::vector<OpSample> samples() {
  std::vector<OpSample> samples = broadcast_samples();
  for (OpSample& sample : samples) {
    sample.low = 0.5;
    sample.high = 2;
  }
  return samples;
}

}  // namespace

const Op power{.name = "power",
               .onnx = "Pow",
               .infer = infer_broadcast,
               .forward = forward_broadcast<&ArithmeticKernels::power>,
               .backward = backward,
               .cost = streaming_cost<80>,
               .units = broadcast_units,
               .overwrites = {{0, 0}, {1, 0}},
               .samples = samples,
               .broadcasts = true};

}  // namespace penstock::graph
