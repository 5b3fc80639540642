#include "graph/ops/norms/batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/batch_norm_gradients.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "graph/ops/norms/channels.hpp"
#include "graph/ops/norms/finish.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute momentum{"momentum", 0.1};

}  // namespace attribute
namespace {

const Op& inference() {
  return batch_norm_inference;
}

/// Checks the bounds of a norm and, if there is one, its addend. Returns the other inputs.
Types norm_inputs(const Attributes& attributes, Types in) {
  expect_bounds(attributes);
  if (!attribute::adds.of(attributes) || in.empty()) return in;
  expect_addend(in.back(), in[0]);
  return in.first(in.size() - 1);
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const auto y = batch_norm_inference.infer(attributes, norm_inputs(attributes, in))[0];
  expect_between(attribute::momentum.of(attributes), 0, 1, "momentum");
  return {y, in[1], in[1], in[3], in[4]};
}

/// Moves a channel's running statistic, which is input `i` and output `i`, towards `value`, by the
/// share `momentum` of the difference.
void update(const KernelCall& call, std::size_t i, std::size_t channel, double value,
            double momentum) {
  const double old = call.inputs[i].f32()[channel];
  call.outputs[i].f32()[channel] = static_cast<float>(old * (1 - momentum) + value * momentum);
}

void expect_variance(const TensorType& x) {
  if (x.shape.elements() / x.shape[1] < 2)
    throw Error(Errc::shape_mismatch,
                "expected more than one value per channel to train on, got " + to_string(x));
}

/// Returns what the call does with the block when it is normalised.
NormFinish finish_of(const KernelCall& call, const ChannelBlock& block) {
  return {.addend = attribute::adds.of(call.attributes) ? block.in(call.inputs.back()) : nullptr,
          .clamp = norm_clamp(call.attributes)};
}

/// Normalises by the statistics of the micro-batch, and calls `keep(channel, mean, variance)` with
/// the unbiased variance of each channel.
template <class Keep>
void normalise_by_batch(const KernelCall& call, Keep keep) {
  const Operand& x = call.inputs[0];
  expect_variance(*x.type);
  const auto& kernels = kernel_table().channel_norms;
  float* const memory = floats(call.workspace);
  for_each_block(call, x.shape(), [&](const ChannelBlock& block) {
    const auto count = static_cast<double>(block.runs.samples * block.runs.length);
    float *const mean = block.of(call.outputs[1]), *const scale = block.of(call.outputs[2]);
    double sums[ChannelBlock::most_channels];
    kernels.sums(block.runs, block.in(x), sums, memory);
    for (std::int64_t c = 0; c < block.runs.channels; ++c)
      mean[c] = static_cast<float>(sums[c] / count);
    kernels.squared_deviations(block.runs, mean, block.in(x), sums, memory);
    for (std::int64_t c = 0; c < block.runs.channels; ++c) {
      scale[c] = inverse_std(call, sums[c] / count);
      keep(static_cast<std::size_t>(block.first + c), mean[c], sums[c] / (count - 1));
    }
    normalise_block(call, block, mean, scale, finish_of(call, block));
  });
}

void forward(const KernelCall& call) {
  const double momentum = attribute::momentum.of(call.attributes);
  normalise_by_batch(call, [&](std::size_t c, double mean, double variance) {
    update(call, 3, c, mean, momentum);
    update(call, 4, c, variance, momentum);
  });
}

void forward_cumulative(const KernelCall& call) {
  normalise_by_batch(call, [&](std::size_t c, double mean, double variance) {
    const double batches = static_cast<double>(call.inputs[5].f32()[c]) + 1;
    update(call, 3, c, mean, 1 / batches);
    update(call, 4, c, variance, 1 / batches);
    call.outputs[5].f32()[c] = static_cast<float>(batches);
  });
}

void forward_untracked(const KernelCall& call) {
  normalise_by_batch(call, [](std::size_t, double, double) {});
}

// In the batch-lane layout, a channel has runs of all samples of a block. Where every lane has a
// sample, the op computes statistics of them as of any other runs.
LaneUse lane_use(const Attributes&, Types in) {
  return in[0].shape[0] % lane_count == 0 ? LaneUse::follows_producer : LaneUse::never;
}

/// Emits the gradients of the inputs x, weight and bias of a norm. `dy` is the gradient of the
/// result before anything is added to it.
std::vector<ValueId> emit_gradients(GradientContext& context, ValueId dy) {
  return context.emit_all(batch_norm_gradients, {dy, context.input(0), context.output(1),
                                                 context.output(2), context.input(1)});
}

/// Emits the same from `dy`, the gradient of the result that the norm has clamped.
std::vector<ValueId> emit_clamped_gradients(GradientContext& context, ValueId dy) {
  return context.emit_all(
      clamped_batch_norm_gradients,
      {dy, context.input(0), context.output(1), context.output(2), context.input(1),
       context.input(2)},
      only_declared(clamped_batch_norm_gradients.attributes, context.attributes()));
}

void backward(GradientContext& context) {
  // The forward makes this check, too. It is also made here, when a model is compiled, so that a
  // model that cannot be trained is refused then.
  expect_variance(context.type(context.input(0)));
  std::vector<ValueId> gradients;
  if (attribute::adds.of(context.attributes())) {
    const ValueId sum = gradient_before_clamp(context);
    context.set(context.input_count() - 1, sum);
    gradients = emit_gradients(context, sum);
  } else if (is_clamped(context.attributes())) {
    gradients = emit_clamped_gradients(context, context.gradient(0));
  } else {
    gradients = emit_gradients(context, context.gradient(0));
  }
  for (std::size_t input = 0; input < gradients.size(); ++input)
    if (context.needs(input)) context.set(input, gradients[input]);
}

/// Returns a sample of a norm with `others` inputs beside x.
OpSample sample_of(int others, const Shape& x) {
  std::vector<TensorType> inputs(static_cast<std::size_t>(1 + others), {DType::f32, {4}});
  inputs[0] = {DType::f32, x};
  return {.inputs = std::move(inputs)};
}

template <int others>
std::vector<OpSample> samples() {
  return {sample_of(others, {3, 4, 2, 5}), sample_of(others, {7, 4}), sample_of(others, {2, 4, 9}),
          sample_of(others, {2, 4, 4, 5})};
}

/// Returns samples of a finished norm with `others` inputs beside x and the addend. No element is
/// near a bound, where the clamp has a kink.
template <int others>
std::vector<OpSample> finished_samples() {
  const OpSample plain = sample_of(others, {3, 4, 2, 3});
  const auto with = [&](Attributes attributes) {
    OpSample sample = plain;
    if (attribute::adds.of(attributes)) sample.inputs.push_back(plain.inputs[0]);
    sample.attributes = std::move(attributes);
    return sample;
  };
  const std::int64_t adds = 1;
  return {plain,
          with({{"low", -20.0}}),
          with({{"low", -20.0}, {"high", 20.0}}),
          with({{"low", 20.0}, {"high", 30.0}}),
          with({{"adds", adds}}),
          with({{"adds", adds}, {"low", -20.0}}),
          with({{"adds", adds}, {"low", -30.0}, {"high", -20.0}})};
}

std::vector<TensorType> infer_cumulative(const Attributes& attributes, Types in) {
  const Types norm = norm_inputs(attributes, in);
  expect_inputs(norm, 6, "x, weight, bias, running_mean, running_var, batches");
  expect_channels(attributes, norm);
  return {in[0], in[1], in[1], in[3], in[4], in[5]};
}

std::vector<TensorType> infer_untracked(const Attributes& attributes, Types in) {
  const Types norm = norm_inputs(attributes, in);
  expect_inputs(norm, 3, "x, weight, bias");
  expect_channels(attributes, norm);
  return {in[0], in[1], in[1]};
}

/// Returns the op that does what `norm` does and then finishes its result.
Op finished(Op norm, std::string_view name, std::vector<OpSample> (*samples_of_it)()) {
  norm.name = name;
  norm.onnx = "";
  for (const DeclaredAttribute& attribute :
       {DeclaredAttribute(attribute::adds), DeclaredAttribute(attribute::lower_bound),
        DeclaredAttribute(attribute::upper_bound)})
    norm.attributes.push_back(attribute);
  norm.inference = nullptr;
  norm.samples = samples_of_it;
  return norm;
}

/// Returns the op that does what a node of `norm` does and finishes its result, or null if there is
/// none.
const Op* finished_form(const Op& norm) {
  const std::pair<const Op*, const Op*> forms[] = {
      {&batch_norm, &finished_batch_norm},
      {&cumulative_batch_norm, &finished_cumulative_batch_norm},
      {&untracked_batch_norm, &finished_untracked_batch_norm}};
  for (const auto& [plain, form] : forms)
    if (&norm == plain || &norm == form) return form;
  return nullptr;
}

}  // namespace

const Op batch_norm{.name = "batch_norm",
                    .onnx = "BatchNormalization",
                    .attributes = {attribute::norm_eps, attribute::momentum},
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = streaming_cost<6>,
                    .workspace = channel_workspace,
                    .units = axis_units<1>,
                    .overwrites = {{0, 0}},
                    .updates = {{3, 3}, {4, 4}},
                    .inference = inference,
                    .lane_use = lane_use,
                    .samples = samples<4>,
                    .has_batch_statistics = true};

const Op cumulative_batch_norm{.name = "cumulative_batch_norm",
                               .attributes = {attribute::norm_eps},
                               .infer = infer_cumulative,
                               .forward = forward_cumulative,
                               .backward = backward,
                               .cost = streaming_cost<6>,
                               .workspace = channel_workspace,
                               .units = axis_units<1>,
                               .overwrites = {{0, 0}},
                               .updates = {{3, 3}, {4, 4}, {5, 5}},
                               .inference = inference,
                               .lane_use = lane_use,
                               .samples = samples<5>,
                               .has_batch_statistics = true};

const Op untracked_batch_norm{.name = "untracked_batch_norm",
                              .attributes = {attribute::norm_eps},
                              .infer = infer_untracked,
                              .forward = forward_untracked,
                              .backward = backward,
                              .cost = streaming_cost<6>,
                              .workspace = channel_workspace,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}},
                              .lane_use = lane_use,
                              .samples = samples<2>,
                              .has_batch_statistics = true};

const Op finished_batch_norm = finished(batch_norm, "finished_batch_norm", finished_samples<4>);
const Op finished_cumulative_batch_norm =
    finished(cumulative_batch_norm, "finished_cumulative_batch_norm", finished_samples<5>);
const Op finished_untracked_batch_norm =
    finished(untracked_batch_norm, "finished_untracked_batch_norm", finished_samples<2>);

std::optional<Node> joined_norm(const Graph& graph, const Node& node, const Node& reader,
                                std::size_t position) {
  const Op* const op = finished_form(*node.op);
  if (!op || is_clamped(node.attributes)) return std::nullopt;
  Node result = node;
  result.op = op;
  result.block = reader.block;
  result.outputs[0] = reader.outputs[0];
  if (join_clamp(result, reader)) return result;
  if (!join_sum(graph, result, reader, position)) return std::nullopt;
  // If the norm read its addend twice, two gradients of one value would be added in another order.
  if (std::ranges::count(result.inputs, result.inputs.back()) > 1) return std::nullopt;
  return result;
}

}  // namespace penstock::graph
