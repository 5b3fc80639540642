#include "graph/ops/recurrent/gru.hpp"

#include "graph/ops/recurrent/steps.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

constexpr Recurrence recurrence{.gates = 3, .has_cell = false, .saved = 2};

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  return infer_recurrent(recurrence, attributes, in);
}

void forward(const KernelCall& call) {
  const Operand &y = call.outputs[0], &h = call.outputs[1];
  const Operand &gates = call.outputs[2], &candidates = call.outputs[3];
  RecurrentForward(recurrence, call).run([&](const Step& step) {
    kernel_table().recurrent.gru({.width = y.shape()[2],
                                  .from_input = row_of(call.inputs[0], step.row),
                                  .from_hidden = step.from_hidden,
                                  .gates = row_of(gates, step.row),
                                  .candidate = row_of(candidates, step.row),
                                  .hidden = row_of(h, step.sample)});
    put_row(row_of(h, step.sample), y, step.row);
  });
}

void backward(GradientContext& context) {
  emit_recurrent_gradient(context, recurrence, gru_gradient, 3);
}

std::vector<OpSample> samples() {
  return recurrent_samples(recurrence);
}

std::vector<TensorType> infer_gradient(const Attributes&, Types in) {
  expect(in.size() > 3, "expected y, weight, gates and candidates first");
  const TensorType& y = in[0];
  return {in[2], y, {DType::f32, {y.shape[0], y.shape[2]}}, in[2]};
}

void forward_gradient(const KernelCall& call) {
  const Operand &gates = call.inputs[2], &candidates = call.inputs[3];
  RecurrentBackward(recurrence, call).run(3, [&](const StepBack& step) {
    kernel_table().recurrent.gru_gradient({.width = candidates.shape()[2],
                                           .gates = row_of(gates, step.row),
                                           .candidate = row_of(candidates, step.row),
                                           .old_hidden = step.old_hidden,
                                           .dy = step.dy,
                                           .dhidden = row_of(call.outputs[2], step.sample),
                                           .dinput = row_of(call.outputs[0], step.row),
                                           .dsums = step.dsums});
  });
}

}  // namespace

const Op gru{.name = "gru",
             .onnx = "GRU",
             .attributes = {attribute::reverse, attribute::has_bias, attribute::has_initial,
                            attribute::has_lengths},
             .infer = infer,
             .forward = forward,
             .backward = backward,
             .cost = recurrent_cost,
             .workspace = recurrent_workspace,
             .units = axis_units<0>,
             .overwrites = {{0, 2}},
             .samples = samples,
             .make_valid = fill_lengths,
             .index_ranges = ranges_of_steps<recurrence>,
             .index_inputs = {2, 3, 4, 5}};

const Op gru_gradient{.name = "gru_gradient",
                      .attributes = {attribute::reverse, attribute::has_initial,
                                     attribute::has_lengths, attribute::has_dy, attribute::has_dh},
                      .infer = infer_gradient,
                      .forward = forward_gradient,
                      .cost = recurrent_cost,
                      .workspace = recurrent_gradient_workspace,
                      .units = axis_units<0>,
                      .overwrites = {{2, 0}},
                      .make_valid = fill_lengths};

}  // namespace penstock::graph
