#include "graph/ops/arithmetic/scale.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute factor{"factor", 1};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  check_f32("factor", attribute::factor.of(attributes), any_number);
  return infer_unary(attributes, in);
}

void forward(const KernelCall& call) {
  const auto factor = static_cast<float>(attribute::factor.of(call.attributes));
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const auto [first, count] = ElementRange(call, x.elements());
  kernel_table().arithmetic.scale(count, factor, x.f32().data() + first, y.f32().data() + first);
}

void backward(GradientContext& context) {
  context.set(0, context.emit(scale, {context.gradient(0)}, context.attributes()));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .attributes = {{"factor", -0.7}}}};
}

}  // namespace

const Op scale{.name = "scale",
               .attributes = {attribute::factor},
               .infer = infer,
               .forward = forward,
               .backward = backward,
               .cost = streaming_cost<1>,
               .units = element_units,
               .overwrites = {{0, 0}},
               .samples = samples};

}  // namespace penstock::graph
