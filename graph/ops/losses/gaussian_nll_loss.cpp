#include "graph/ops/losses/gaussian_nll_loss.hpp"

#include <algorithm>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute variance_eps{"eps", 1e-6};
constexpr FlagAttribute with_constant{"full"};

}  // namespace attribute
namespace {

float eps_of(const Attributes& attributes) {
  return static_cast<float>(attribute::variance_eps.of(attributes));
}

/// Returns log(2π)/2 if it is asked for, and else 0.
float constant_of(const Attributes& attributes) {
  return attribute::with_constant.of(attributes) ? 0.918938533f : 0.0f;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, target, variance");
  constexpr std::string_view names[] = {"x", "target", "variance"};
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], in[0].shape, names[i]);
  }
  expect_elements(in[0], "x");
  check_f32("eps", attribute::variance_eps.of(attributes), {.above_low = true});
  return {loss_type(attributes, in[0].shape)};
}

bool is_negative(float value) {
  return value < 0;
}

void expect_variances(const Operand& variance) {
  const auto values = variance.f32();
  const auto found = std::ranges::find_if(values, is_negative);
  if (found == values.end()) return;
  const Shape& shape = variance.shape();
  const std::int64_t per_sample = shape.rank() == 0 ? 1 : variance.elements() / shape[0];
  throw Error(Errc::invalid_data,
              "variance " + number_text(static_cast<double>(*found)) + " at sample " +
                  std::to_string((found - values.begin()) / per_sample) + ": expected 0 or more");
}

void forward(const KernelCall& call) {
  expect_variances(call.inputs[2]);
  const GaussianKernels& gaussian = kernel_table().losses.gaussian;
  const std::int64_t count = call.inputs[0].elements();
  const float *x = call.inputs[0].f32().data(), *target = call.inputs[1].f32().data(),
              *variance = call.inputs[2].f32().data();
  const float eps = eps_of(call.attributes), constant = constant_of(call.attributes);
  const LossForm form = loss_form(call.attributes);
  float* const out = call.outputs[0].f32().data();
  if (form == LossForm::each)
    gaussian.terms(count, eps, constant, x, target, variance, out);
  else
    *out = mean_or_sum(form, gaussian.sum(count, eps, constant, x, target, variance), count);
}

void backward(GradientContext& context) {
  const std::vector<ValueId> inputs{context.input(0), context.input(1), context.input(2),
                                    context.gradient(0)};
  if (context.needs(0) || context.needs(1)) {
    const ValueId dx = context.emit(gaussian_nll_loss_gradient, inputs, context.attributes());
    context.set(0, dx);
    if (context.needs(1)) context.set(1, context.emit(scale, {dx}, {{"factor", -1.0}}));
  }
  if (context.needs(2))
    context.set(2, context.emit(gaussian_nll_loss_variance_gradient, inputs, context.attributes()));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, x, x},
                   .attributes = {{"reduction", reduction}, {"full", std::int64_t{1}}},
                   .low = 0.5,
                   .high = 2});
  return all;
}

void fill_variances(const Attributes&, std::span<const Operand> inputs) {
  std::ranges::fill(inputs[2].f32(), 1.0f);
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "x, target, variance, dloss");
  expect_loss_gradient(attributes, in[3], in[0].shape);
  return {in[0]};
}

/// Serves as Op::forward of an op that computes a gradient by `kernel`.
template <auto GaussianKernels::*kernel>
void forward_gradient(const KernelCall& call) {
  const std::int64_t count = call.inputs[0].elements();
  const TermGradients gradients(call.attributes, call.inputs[3], count);
  (kernel_table().losses.gaussian.*kernel)(
      count, eps_of(call.attributes), call.inputs[0].f32().data(), call.inputs[1].f32().data(),
      call.inputs[2].f32().data(), gradients.row(), call.outputs[0].f32().data());
}

}  // namespace

const Op gaussian_nll_loss{
    .name = "gaussian_nll_loss",
    .attributes = {attribute::reduction, attribute::with_constant, attribute::variance_eps},
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .cost = streaming_cost<22>,
    .samples = samples,
    .make_valid = fill_variances,
    .is_loss = true};

const Op gaussian_nll_loss_gradient{
    .name = "gaussian_nll_loss_gradient",
    .attributes = {attribute::reduction, attribute::with_constant, attribute::variance_eps},
    .infer = infer_gradient,
    .forward = forward_gradient<&GaussianKernels::gradient>,
    .cost = streaming_cost<7>,
    .overwrites = {{0, 0}, {1, 0}, {2, 0}}};

const Op gaussian_nll_loss_variance_gradient{
    .name = "gaussian_nll_loss_variance_gradient",
    .attributes = {attribute::reduction, attribute::with_constant, attribute::variance_eps},
    .infer = infer_gradient,
    .forward = forward_gradient<&GaussianKernels::variance_gradient>,
    .cost = streaming_cost<13>,
    .overwrites = {{0, 0}, {1, 0}, {2, 0}}};

}  // namespace penstock::graph
