#include "graph/ops/activations/smooth.hpp"

#include "graph/ops/activations/formula.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute alpha{"alpha", 1};
constexpr RealAttribute elu_scale{"scale", 1};
constexpr RealAttribute input_scale{"input_scale", 1};
constexpr RealAttribute softplus_beta{"beta", 1};
constexpr RealAttribute softplus_threshold{"threshold", 20};

}  // namespace attribute
namespace {

constexpr NumberRange above_zero{.above_low = true};

ActivationConstants elu_constants(const Attributes& attributes) {
  return {.alpha = static_cast<float>(attribute::alpha.of(attributes)),
          .scale = static_cast<float>(attribute::elu_scale.of(attributes)),
          .input_scale = static_cast<float>(attribute::input_scale.of(attributes))};
}

std::vector<TensorType> infer_elu(const Attributes& attributes, Types in) {
  check_f32("alpha", attribute::alpha.of(attributes), any_number);
  check_f32("scale", attribute::elu_scale.of(attributes), any_number);
  check_f32("input_scale", attribute::input_scale.of(attributes), above_zero);
  return infer_unary(attributes, in);
}

std::vector<OpSample> elu_samples() {
  const TensorType x{DType::f32, {3, 7}};
  const Attributes attributes{{"alpha", 1.7}, {"scale", 1.1}, {"input_scale", 0.6}};
  return {{.inputs = {x}, .attributes = attributes, .low = -3, .high = -0.1},
          {.inputs = {x}, .attributes = attributes, .low = 0.1},
          {.inputs = {x}, .attributes = {{"alpha", -0.5}}, .low = -3, .high = -0.1}};
}

ActivationConstants softplus_constants(const Attributes& attributes) {
  return {.beta = static_cast<float>(attribute::softplus_beta.of(attributes)),
          .threshold = static_cast<float>(attribute::softplus_threshold.of(attributes))};
}

std::vector<TensorType> infer_softplus(const Attributes& attributes, Types in) {
  check_f32("beta", attribute::softplus_beta.of(attributes), above_zero);
  check_f32("threshold", attribute::softplus_threshold.of(attributes), any_number);
  return infer_unary(attributes, in);
}

std::vector<OpSample> softplus_samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .attributes = {{"beta", 2.5}}, .low = -4, .high = 4},
          {.inputs = {x}, .attributes = {{"threshold", 2.0}}, .low = 2.1, .high = 5}};
}

std::vector<OpSample> samples_around_zero() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -4, .high = 4},
          {.inputs = {{DType::f32, {70}}}, .low = -2, .high = 2}};
}

/// Returns samples without 0, where the slope has a kink.
std::vector<OpSample> samples_beside_zero() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .low = 0.1, .high = 4}, {.inputs = {x}, .low = -4, .high = -0.1}};
}

}  // namespace

const Op elu =
    elementwise({.name = "elu",
                 .onnx = "Elu",
                 .attributes = {attribute::alpha, attribute::elu_scale, attribute::input_scale},
                 .infer = infer_elu,
                 .forward = forward_formula<&ActivationKernels::elu, elu_constants>,
                 .backward = backward_by_input<elu_gradient>,
                 .cost = streaming_cost<15>,
                 .samples = elu_samples});
const Op elu_gradient = elementwise_gradient(
    {.name = "elu_gradient",
     .attributes = {attribute::alpha, attribute::elu_scale, attribute::input_scale},
     .forward = forward_formula_gradient<&ActivationKernels::elu, elu_constants>,
     .cost = streaming_cost<15>});

const Op gelu_tanh = elementwise({.name = "gelu_tanh",
                                  .onnx = "Gelu",
                                  .forward = forward_formula<&ActivationKernels::gelu_tanh>,
                                  .backward = backward_by_input<gelu_tanh_gradient>,
                                  .cost = streaming_cost<16>,
                                  .samples = samples_around_zero});
const Op gelu_tanh_gradient =
    elementwise_gradient({.name = "gelu_tanh_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::gelu_tanh>,
                          .cost = streaming_cost<25>});

const Op logsigmoid = elementwise({.name = "logsigmoid",
                                   .forward = forward_formula<&ActivationKernels::logsigmoid>,
                                   .backward = backward_by_input<logsigmoid_gradient>,
                                   .cost = streaming_cost<35>,
                                   .samples = samples_around_zero});
const Op logsigmoid_gradient =
    elementwise_gradient({.name = "logsigmoid_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::logsigmoid>,
                          .cost = streaming_cost<13>});

const Op mish = elementwise({.name = "mish",
                             .onnx = "Mish",
                             .forward = forward_formula<&ActivationKernels::mish>,
                             .backward = backward_by_input<mish_gradient>,
                             .cost = streaming_cost<18>,
                             .samples = samples_around_zero});
const Op mish_gradient =
    elementwise_gradient({.name = "mish_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::mish>,
                          .cost = streaming_cost<26>});

const Op softplus =
    elementwise({.name = "softplus",
                 .onnx = "Softplus",
                 .attributes = {attribute::softplus_beta, attribute::softplus_threshold},
                 .infer = infer_softplus,
                 .forward = forward_formula<&ActivationKernels::softplus, softplus_constants>,
                 .backward = backward_by_input<softplus_gradient>,
                 .cost = streaming_cost<37>,
                 .samples = softplus_samples});
const Op softplus_gradient = elementwise_gradient(
    {.name = "softplus_gradient",
     .attributes = {attribute::softplus_beta, attribute::softplus_threshold},
     .forward = forward_formula_gradient<&ActivationKernels::softplus, softplus_constants>,
     .cost = streaming_cost<15>});

const Op softsign = elementwise({.name = "softsign",
                                 .onnx = "Softsign",
                                 .forward = forward_formula<&ActivationKernels::softsign>,
                                 .backward = backward_by_input<softsign_gradient>,
                                 .cost = streaming_cost<6>,
                                 .samples = samples_beside_zero});
const Op softsign_gradient =
    elementwise_gradient({.name = "softsign_gradient",
                          .forward = forward_formula_gradient<&ActivationKernels::softsign>,
                          .cost = streaming_cost<10>});

}  // namespace penstock::graph
