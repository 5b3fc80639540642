#include "graph/ops/activations/prelu.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

/// Slopes are the view of x as [samples, channels, length], where each channel has a slope of its
/// own. If there is one slope only, there is one channel, and one sample.
struct Slopes {
  std::int64_t samples = 1, channels, length;

  Slopes(const Shape& x, const Shape& weight) : channels(weight.elements()) {
    if (channels > 1) samples = x[0];
    const std::int64_t runs = samples * channels;
    length = runs > 0 ? x.elements() / runs : 0;
  }
  std::int64_t runs() const { return samples * channels; }
};

void expect_slopes(const TensorType& x, const TensorType& weight) {
  expect_dtype(x, DType::f32, "x");
  expect_dtype(weight, DType::f32, "weight");
  expect_rank(weight, 1, "weight");
  const std::int64_t slopes = weight.shape[0];
  expect(slopes == 1 || (x.shape.rank() >= 2 && x.shape[1] == slopes),
         "expected weight of shape [1]" +
             (x.shape.rank() >= 2 ? " or [" + std::to_string(x.shape[1]) + "]" : std::string()) +
             " for x " + to_string(x.shape) + ", got " + to_string(weight.shape));
}

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 2, "x, weight");
  expect_slopes(in[0], in[1]);
  return {in[0]};
}

/// Calls `visit(slope, at, count)` for all runs of neighbouring elements of the call's part:
/// `slope` is the run's slope, and `at` is the index of its first element.
template <class Visit>
void for_each_run(const KernelCall& call, const Operand& weight, Visit visit) {
  const Slopes slopes(call.outputs[0].shape(), weight.shape());
  const auto [first, count] = ElementRange(call, call.outputs[0].elements());
  for (std::int64_t at = first; at < first + count;) {
    const std::int64_t run = at / slopes.length;
    const std::int64_t end = std::min((run + 1) * slopes.length, first + count);
    visit(weight.f32()[static_cast<std::size_t>(run % slopes.channels)], at, end - at);
    at = end;
  }
}

void forward(const KernelCall& call) {
  const float* x = call.inputs[0].f32().data();
  float* y = call.outputs[0].f32().data();
  for_each_run(call, call.inputs[1], [&](float slope, std::int64_t at, std::int64_t count) {
    kernel_table().activations.leaky_relu(count, slope, x + at, y + at);
  });
}

void backward(GradientContext& context) {
  const std::vector<ValueId> inputs{context.input(0), context.gradient(0), context.input(1)};
  if (context.needs(0)) context.set(0, context.emit(prelu_input_gradient, inputs));
  if (context.needs(1)) context.set(1, context.emit(prelu_weight_gradient, inputs));
}

std::vector<OpSample> samples() {
  const TensorType one{DType::f32, {1}}, image{DType::f32, {2, 3, 2, 4}}, c{DType::f32, {3}};
  return {{.inputs = {{DType::f32, {3, 7}}, one}, .low = -2, .high = -0.2},
          {.inputs = {{DType::f32, {70}}, one}, .low = 0.2, .high = 2},
          {.inputs = {image, c}, .low = -2, .high = -0.2},
          {.inputs = {{DType::f32, {5, 3}}, c}, .low = -2, .high = -0.2}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "x, dy, weight");
  expect_shape(in[1], in[0].shape, "dy");
  expect_slopes(in[0], in[2]);
  return {in[0]};
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  infer_input_gradient(attributes, in);
  return {in[2]};
}

void forward_input_gradient(const KernelCall& call) {
  const float *x = call.inputs[0].f32().data(), *dy = call.inputs[1].f32().data();
  float* dx = call.outputs[0].f32().data();
  for_each_run(call, call.inputs[2], [&](float slope, std::int64_t at, std::int64_t count) {
    kernel_table().activations.leaky_relu_gradient(count, slope, x + at, dy + at, dx + at);
  });
}

void forward_weight_gradient(const KernelCall& call) {
  const float *x = call.inputs[0].f32().data(), *dy = call.inputs[1].f32().data();
  const Slopes slopes(call.inputs[0].shape(), call.inputs[2].shape());
  const Part channels = within(call.part, slopes.channels);
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    double sum = 0;
    for (std::int64_t run = channel; run < slopes.runs(); run += slopes.channels)
      sum += kernel_table().activations.slope_gradient(slopes.length, x + run * slopes.length,
                                                       dy + run * slopes.length);
    call.outputs[0].f32()[static_cast<std::size_t>(channel)] = static_cast<float>(sum);
  }
}

}  // namespace

const Op prelu{.name = "prelu",
               .onnx = "PRelu",
               .infer = infer,
               .forward = forward,
               .backward = backward,
               .cost = streaming_cost<2>,
               .units = element_units,
               .overwrites = {{0, 0}},
               .samples = samples};

const Op prelu_input_gradient{.name = "prelu_input_gradient",
                              .infer = infer_input_gradient,
                              .forward = forward_input_gradient,
                              .cost = streaming_cost<2>,
                              .units = element_units,
                              .overwrites = {{1, 0}, {0, 0}}};

const Op prelu_weight_gradient{.name = "prelu_weight_gradient",
                               .infer = infer_weight_gradient,
                               .forward = forward_weight_gradient,
                               .cost = streaming_cost<3>,
                               .units = axis_units<0>};

}  // namespace penstock::graph
