#include "graph/ops/activations/piecewise.hpp"

#include "graph/ops/activations/formula.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute bound{"bound", 0.5};
constexpr RealAttribute step{"threshold"};
constexpr RealAttribute step_value{"value"};

}  // namespace attribute
namespace {

ActivationConstants hardtanh_constants(const Attributes& attributes) {
  return {.low = static_cast<float>(attribute::hardtanh_low.of(attributes)),
          .high = static_cast<float>(attribute::hardtanh_high.of(attributes))};
}

std::vector<TensorType> infer_hardtanh(const Attributes& attributes, Types in) {
  const double low = attribute::hardtanh_low.of(attributes);
  check_f32("low", low, any_number);
  check_f32("high", attribute::hardtanh_high.of(attributes), {.low = low, .above_low = true});
  return infer_unary(attributes, in);
}

std::vector<OpSample> hardtanh_samples() {
  const TensorType x{DType::f32, {3, 7}};
  const Attributes attributes{{"low", -0.5}, {"high", 0.7}};
  return {{.inputs = {x}, .attributes = attributes, .low = -0.4, .high = 0.6},
          {.inputs = {x}, .attributes = attributes, .low = -3, .high = -0.6},
          {.inputs = {x}, .attributes = attributes, .low = 0.8, .high = 3}};
}

/// Returns samples of activations that have kinks at -3 and 3.
std::vector<OpSample> samples_around_three() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .low = -2.9, .high = 2.9},
          {.inputs = {x}, .low = -5, .high = -3.1},
          {.inputs = {x}, .low = 3.1, .high = 5}};
}

ActivationConstants shrink_constants(const Attributes& attributes) {
  return {.bound = static_cast<float>(attribute::bound.of(attributes))};
}

std::vector<TensorType> infer_shrink(const Attributes& attributes, Types in) {
  check_f32("bound", attribute::bound.of(attributes), {});
  return infer_unary(attributes, in);
}

std::vector<OpSample> shrink_samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .attributes = {{"bound", 0.3}}, .low = -3, .high = -0.4},
          {.inputs = {x}, .attributes = {{"bound", 0.3}}, .low = 0.4, .high = 3},
          {.inputs = {x}, .low = -0.4, .high = 0.4}};
}

ActivationConstants threshold_constants(const Attributes& attributes) {
  return {.threshold = static_cast<float>(attribute::step.of(attributes)),
          .value = static_cast<float>(attribute::step_value.of(attributes))};
}

std::vector<TensorType> infer_threshold(const Attributes& attributes, Types in) {
  check_f32("threshold", attribute::step.of(attributes), any_number);
  check_f32("value", attribute::step_value.of(attributes), any_number);
  return infer_unary(attributes, in);
}

std::vector<OpSample> threshold_samples() {
  const TensorType x{DType::f32, {3, 7}};
  const Attributes attributes{{"threshold", 0.5}, {"value", -2.0}};
  return {{.inputs = {x}, .attributes = attributes, .low = 0.6, .high = 3},
          {.inputs = {x}, .attributes = attributes, .low = -3, .high = 0.4}};
}

}  // namespace

const Op hardtanh =
    elementwise({.name = "hardtanh",
                 .onnx = "Clip",
                 .attributes = {attribute::hardtanh_low, attribute::hardtanh_high},
                 .infer = infer_hardtanh,
                 .forward = forward_formula<&ActivationKernels::hardtanh, hardtanh_constants>,
                 .backward = backward_by_output<hardtanh_gradient>,
                 .cost = streaming_cost<2>,
                 .samples = hardtanh_samples});
const Op hardtanh_gradient = elementwise_gradient(
    {.name = "hardtanh_gradient",
     .attributes = {attribute::hardtanh_low, attribute::hardtanh_high},
     .forward = forward_formula_gradient<&ActivationKernels::hardtanh, hardtanh_constants>,
     .cost = streaming_cost<2>});

const Op hardsigmoid = elementwise({.name = "hardsigmoid",
                                    .onnx = "HardSigmoid",
                                    .forward = forward_formula<&ActivationKernels::hardsigmoid>,
                                    .backward = backward_by_input<hardsigmoid_gradient>,
                                    .cost = streaming_cost<5>,
                                    .samples = samples_around_three});
const Op hardsigmoid_gradient =
    elementwise_gradient({.name = "hardsigmoid_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::hardsigmoid>,
                          .cost = streaming_cost<5>});

const Op hardswish = elementwise({.name = "hardswish",
                                  .onnx = "HardSwish",
                                  .forward = forward_formula<&ActivationKernels::hardswish>,
                                  .backward = backward_by_input<hardswish_gradient>,
                                  .cost = streaming_cost<6>,
                                  .samples = samples_around_three});
const Op hardswish_gradient =
    elementwise_gradient({.name = "hardswish_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::hardswish>,
                          .cost = streaming_cost<7>});

const Op hardshrink =
    elementwise({.name = "hardshrink",
                 .onnx = "Shrink",
                 .attributes = {attribute::bound},
                 .infer = infer_shrink,
                 .forward = forward_formula<&ActivationKernels::hardshrink, shrink_constants>,
                 .backward = backward_by_input<hardshrink_gradient>,
                 .cost = streaming_cost<2>,
                 .samples = shrink_samples});
const Op hardshrink_gradient = elementwise_gradient(
    {.name = "hardshrink_gradient",
     .attributes = {attribute::bound},
     .forward = forward_formula_gradient<&ActivationKernels::hardshrink, shrink_constants>,
     .cost = streaming_cost<2>});

const Op softshrink =
    elementwise({.name = "softshrink",
                 .onnx = "Shrink",
                 .attributes = {attribute::bound},
                 .infer = infer_shrink,
                 .forward = forward_formula<&ActivationKernels::softshrink, shrink_constants>,
                 .backward = backward_by_input<softshrink_gradient>,
                 .cost = streaming_cost<4>,
                 .samples = shrink_samples});
const Op softshrink_gradient = elementwise_gradient(
    {.name = "softshrink_gradient",
     .attributes = {attribute::bound},
     .forward = forward_formula_gradient<&ActivationKernels::softshrink, shrink_constants>,
     .cost = streaming_cost<2>});

const Op threshold =
    elementwise({.name = "threshold",
                 .attributes = {attribute::step, attribute::step_value},
                 .infer = infer_threshold,
                 .forward = forward_formula<&ActivationKernels::threshold, threshold_constants>,
                 .backward = backward_by_input<threshold_gradient>,
                 .cost = streaming_cost<1>,
                 .samples = threshold_samples});
const Op threshold_gradient = elementwise_gradient(
    {.name = "threshold_gradient",
     .attributes = {attribute::step, attribute::step_value},
     .forward = forward_formula_gradient<&ActivationKernels::threshold, threshold_constants>,
     .cost = streaming_cost<1>});

}  // namespace penstock::graph
