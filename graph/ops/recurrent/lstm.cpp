#include "graph/ops/recurrent/lstm.hpp"

#include "graph/ops/recurrent/steps.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

constexpr Recurrence recurrence{.gates = 4, .has_cell = true, .saved = 2};

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  return infer_recurrent(recurrence, attributes, in);
}

void forward(const KernelCall& call) {
  const Operand &y = call.outputs[0], &h = call.outputs[1], &c = call.outputs[2];
  const Operand &gates = call.outputs[3], &cells = call.outputs[4];
  RecurrentForward(recurrence, call).run([&](const Step& step) {
    kernel_table().recurrent.lstm({.width = y.shape()[2],
                                   .from_input = row_of(call.inputs[0], step.row),
                                   .from_hidden = step.from_hidden,
                                   .gates = row_of(gates, step.row),
                                   .cell = row_of(c, step.sample),
                                   .hidden = row_of(h, step.sample)});
    put_row(row_of(h, step.sample), y, step.row);
    put_row(row_of(c, step.sample), cells, step.row);
  });
}

void backward(GradientContext& context) {
  emit_recurrent_gradient(context, recurrence, lstm_gradient, 0);
}

std::vector<OpSample> samples() {
  return recurrent_samples(recurrence);
}

std::vector<TensorType> infer_gradient(const Attributes&, Types in) {
  expect(in.size() > 3, "expected y, weight, gates and cells first");
  const TensorType& y = in[0];
  const TensorType state{DType::f32, {y.shape[0], y.shape[2]}};
  return {in[2], y, state, state};
}

void forward_gradient(const KernelCall& call) {
  const Operand &gates = call.inputs[2], &cells = call.inputs[3];
  const RecurrentBackward all(recurrence, call);
  all.run(0, [&](const StepBack& step) {
    kernel_table().recurrent.lstm_gradient({.width = cells.shape()[2],
                                            .gates = row_of(gates, step.row),
                                            .old_cell = all.old_cell(step, cells),
                                            .cell = row_of(cells, step.row),
                                            .dy = step.dy,
                                            .dhidden = row_of(call.outputs[2], step.sample),
                                            .dcell = row_of(call.outputs[3], step.sample),
                                            .dsums = step.dsums});
  });
}

}  // namespace

const Op lstm{.name = "lstm",
              .onnx = "LSTM",
              .attributes = {attribute::reverse, attribute::has_bias, attribute::has_initial,
                             attribute::has_lengths},
              .infer = infer,
              .forward = forward,
              .backward = backward,
              .cost = recurrent_cost,
              .workspace = recurrent_workspace,
              .units = axis_units<0>,
              .overwrites = {{0, 3}},
              .samples = samples,
              .make_valid = fill_lengths,
              .index_ranges = ranges_of_steps<recurrence>,
              .index_inputs = {2, 3, 4, 5}};

const Op lstm_gradient{
    .name = "lstm_gradient",
    .attributes = {attribute::reverse, attribute::has_initial, attribute::has_lengths,
                   attribute::has_dy, attribute::has_dh, attribute::has_dc},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = recurrent_cost,
    .workspace = recurrent_gradient_workspace,
    .units = axis_units<0>,
    .overwrites = {{2, 0}},
    .make_valid = fill_lengths};

}  // namespace penstock::graph
