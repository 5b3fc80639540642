#include "graph/ops/arithmetic/arithmetic.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/broadcast_operands.hpp"
#include "graph/ops/arithmetic/reduce_to.hpp"
#include "graph/ops/arithmetic/scale.hpp"
#include "graph/ops/rules/broadcast.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

/// Operands of the same shape are one run. Others are walked through by one thread.
std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return in[0].shape == in[1].shape ? element_units(attributes, in, out) : 1;
}

template <ArithmeticKernels::Binary ArithmeticKernels::*kernel>
void forward(const KernelCall& call) {
  const Operand &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  const ArithmeticKernels::Binary f = kernel_table().arithmetic.*kernel;
  if (!(a.shape() == b.shape())) return broadcast(call, f);
  const auto [first, count] = ElementRange(call, out.elements());
  f(count, {a.f32().data() + first, false}, {b.f32().data() + first, false},
    out.f32().data() + first);
}

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

std::vector<OpSample> samples() {
  const auto f32 = [](const Shape& shape) { return TensorType{DType::f32, shape}; };
  return {{.inputs = {f32({4, 5}), f32({4, 5})}},
          {.inputs = {f32({4, 3, 5}), f32({3, 1})}},
          {.inputs = {f32({1, 5}), f32({4, 3, 5})}},
          {.inputs = {f32({4, 1}), f32({1, 5})}},
          {.inputs = {f32({}), f32({3, 4})}}};
}

}  // namespace

const Op add{.name = "add",
             .onnx = "Add",
             .infer = infer_broadcast,
             .forward = forward<&ArithmeticKernels::add>,
             .backward = backward_add,
             .cost = streaming_cost<1>,
             .units = units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = samples};

const Op sub{.name = "sub",
             .onnx = "Sub",
             .infer = infer_broadcast,
             .forward = forward<&ArithmeticKernels::subtract>,
             .backward = backward_sub,
             .cost = streaming_cost<1>,
             .units = units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = samples};

const Op mul{.name = "mul",
             .onnx = "Mul",
             .infer = infer_broadcast,
             .forward = forward<&ArithmeticKernels::multiply>,
             .backward = backward_mul,
             .cost = streaming_cost<1>,
             .units = units,
             .overwrites = {{0, 0}, {1, 0}},
             .samples = samples};

}  // namespace penstock::graph
