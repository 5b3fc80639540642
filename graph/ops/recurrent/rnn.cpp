#include "graph/ops/recurrent/rnn.hpp"

#include <string>
#include <utility>

#include "graph/ops/recurrent/steps.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr TextAttribute nonlinearity{"nonlinearity", "tanh"};

}  // namespace attribute
namespace {

constexpr Recurrence recurrence{.gates = 1, .has_cell = false, .saved = 0};

bool is_relu(const Attributes& attributes) {
  const std::string_view name = attribute::nonlinearity.of(attributes);
  if (name == "relu") return true;
  if (name == "tanh") return false;
  throw Error(Errc::invalid_argument,
              "expected nonlinearity \"tanh\" or \"relu\", got \"" + std::string(name) + "\"");
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  is_relu(attributes);
  return infer_recurrent(recurrence, attributes, in);
}

void forward(const KernelCall& call) {
  const Operand &y = call.outputs[0], &h = call.outputs[1];
  const RecurrentKernels& kernels = kernel_table().recurrent;
  const auto compute = is_relu(call.attributes) ? kernels.relu : kernels.tanh;
  RecurrentForward(recurrence, call).run([&](const Step& step) {
    float* const hidden = row_of(h, step.sample);
    compute(y.shape()[2], row_of(call.inputs[0], step.row), step.from_hidden, hidden);
    put_row(hidden, y, step.row);
  });
}

void backward(GradientContext& context) {
  emit_recurrent_gradient(context, recurrence, rnn_gradient, 0);
}

std::vector<OpSample> samples() {
  std::vector<OpSample> samples = recurrent_samples(recurrence);
  // The inputs are positive, so that no sum is near 0, where relu has its kink.
  OpSample positive = samples[1];
  positive.attributes = {{"bias", 1}, {"initial", 1}, {"nonlinearity", "relu"}};
  positive.low = 0.1;
  samples.push_back(std::move(positive));
  return samples;
}

std::vector<TensorType> infer_gradient(const Attributes&, Types in) {
  expect(in.size() > 1, "expected y and weight first");
  const TensorType& y = in[0];
  return {y, y, {DType::f32, {y.shape[0], y.shape[2]}}};
}

void forward_gradient(const KernelCall& call) {
  const Operand& y = call.inputs[0];
  const RecurrentKernels& kernels = kernel_table().recurrent;
  const auto compute = is_relu(call.attributes) ? kernels.relu_gradient : kernels.tanh_gradient;
  RecurrentBackward(recurrence, call).run(0, [&](const StepBack& step) {
    compute(y.shape()[2], row_of(y, step.row), step.dy, row_of(call.outputs[2], step.sample),
            step.dsums);
  });
}

}  // namespace

const Op rnn{.name = "rnn",
             .onnx = "RNN",
             .attributes = {attribute::reverse, attribute::has_bias, attribute::has_initial,
                            attribute::has_lengths, attribute::nonlinearity},
             .infer = infer,
             .forward = forward,
             .backward = backward,
             .cost = recurrent_cost,
             .workspace = recurrent_workspace,
             .units = axis_units<0>,
             .overwrites = {{0, 0}},
             .samples = samples,
             .make_valid = fill_lengths,
             .index_ranges = ranges_of_steps<recurrence>,
             .index_inputs = {2, 3, 4, 5}};

const Op rnn_gradient{
    .name = "rnn_gradient",
    .attributes = {attribute::reverse, attribute::has_initial, attribute::has_lengths,
                   attribute::has_dy, attribute::has_dh, attribute::nonlinearity},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = recurrent_cost,
    .workspace = recurrent_gradient_workspace,
    .units = axis_units<0>,
    .make_valid = fill_lengths};

}  // namespace penstock::graph
