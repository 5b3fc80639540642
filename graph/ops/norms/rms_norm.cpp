#include "graph/ops/norms/rms_norm.hpp"

#include <cmath>
#include <limits>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute rms_eps{"eps", std::numeric_limits<float>::epsilon()};

}  // namespace attribute
namespace {

// The kernels are those of layer norm. Their moments here have the mean 0, so that nothing is
// subtracted from x, and the gradient of the mean is left out.

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, weight");
  expect_dtype(in[0], DType::f32, "x");
  expect_elements(in[0], "x");
  check_f32("eps", attribute::rms_eps.of(attributes), {.above_low = true});
  return {in[0], {DType::f32, expect_last_axes(in[0], in[1])}};
}

Moments stored_rms(const Operand& inverse_rms, std::int64_t row) {
  return {.mean = 0, .inverse_std = inverse_rms.f32()[static_cast<std::size_t>(row)]};
}

void forward(const KernelCall& call) {
  const NormKernels& norms = kernel_table().norms;
  const std::int64_t length = call.inputs[1].elements();
  const Part rows = within(call.part, call.outputs[1].elements());
  const double eps = attribute::rms_eps.of(call.attributes);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const float* const x = call.inputs[0].f32().data() + r * length;
    const double square = norms.squared_deviations(length, 0, x) / static_cast<double>(length);
    const auto inverse = static_cast<float>(1 / std::sqrt(square + eps));
    call.outputs[1].f32()[static_cast<std::size_t>(r)] = inverse;
    norms.normalise_each(length, {.mean = 0, .inverse_std = inverse}, call.inputs[1].f32().data(),
                         nullptr, x, call.outputs[0].f32().data() + r * length);
  }
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  const ValueId inverse_rms = context.output(1);
  if (context.needs(0))
    context.set(0, context.emit(rms_norm_input_gradient, {dy, x, inverse_rms, weight}));
  if (context.needs(1))
    context.set(1, context.emit(rms_norm_weight_gradient, {dy, x, inverse_rms}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}}, last{DType::f32, {5}}, two{DType::f32, {4, 5}};
  return {{.inputs = {x, last}}, {.inputs = {x, two}, .attributes = {{"eps", 0.1}}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, inverse_rms, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward_input_gradient(const KernelCall& call) {
  const NormKernels& norms = kernel_table().norms;
  const std::int64_t length = call.inputs[3].elements();
  const Part rows = within(call.part, call.inputs[2].elements());
  const float* const weight = call.inputs[3].f32().data();
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const float* const dy = call.inputs[0].f32().data() + r * length;
    const float* const x = call.inputs[1].f32().data() + r * length;
    const Moments moments = stored_rms(call.inputs[2], r);
    const double product = norms.gradient_sums_each(length, moments, weight, dy, x).dy_x;
    norms.input_gradient_each(length, moments, weight,
                              {.dy = 0, .dy_x = product / static_cast<double>(length)}, dy, x,
                              call.outputs[0].f32().data() + r * length);
  }
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "dy, x, inverse_rms");
  return {{DType::f32, Shape(in[1].shape.dims().subspan(in[2].shape.rank()))}};
}

Moments moments_of_row(const KernelCall& call, std::int64_t row) {
  return stored_rms(call.inputs[2], row);
}

void forward_weight_gradient(const KernelCall& call) {
  const std::int64_t length = call.outputs[0].elements();
  const auto [first, count] = ElementRange(call, length);
  // The gradient of a bias is summed, too, and is not used.
  sum_weight_gradient(call, length, first, count, moments_of_row);
  kernel_table().reductions.round(count, doubles(call.workspace) + WeightSums(count).scales,
                                  call.outputs[0].f32().data() + first);
}

}  // namespace

const Op rms_norm{.name = "rms_norm",
                  .onnx = "RMSNormalization",
                  .attributes = {attribute::rms_eps},
                  .infer = infer,
                  .forward = forward,
                  .backward = backward,
                  .cost = streaming_cost<5>,
                  .units = forward_row_units,
                  .overwrites = {{0, 0}},
                  .samples = samples};

const Op rms_norm_input_gradient{.name = "rms_norm_input_gradient",
                                 .infer = infer_input_gradient,
                                 .forward = forward_input_gradient,
                                 .cost = streaming_cost<10>,
                                 .units = gradient_row_units,
                                 .overwrites = {{0, 0}, {1, 0}}};

const Op rms_norm_weight_gradient{.name = "rms_norm_weight_gradient",
                                  .infer = infer_weight_gradient,
                                  .forward = forward_weight_gradient,
                                  .cost = streaming_cost<4>,
                                  .workspace = weight_gradient_workspace,
                                  .units = element_units};

}  // namespace penstock::graph
