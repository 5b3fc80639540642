#include "graph/ops/norms/batch_norm.hpp"

#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "graph/ops/norms/channels.hpp"
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

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const auto y = batch_norm_inference.infer(attributes, in)[0];
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
    normalise_block(call, block, mean, scale);
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

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  const ValueId mean = context.output(1), inverse_std = context.output(2);
  // The forward makes this check, too. It is also made here, when a model is compiled, so that a
  // model that cannot be trained is refused then.
  expect_variance(context.type(x));
  const auto gradients = context.emit_all(batch_norm_gradients, {dy, x, mean, inverse_std, weight});
  for (std::size_t input = 0; input < gradients.size(); ++input)
    if (context.needs(input)) context.set(input, gradients[input]);
}

/// Returns samples of a norm with `others` inputs beside x.
template <int others>
std::vector<OpSample> samples() {
  const TensorType c{DType::f32, {4}};
  std::vector<OpSample> all;
  for (const Shape& x : {Shape{3, 4, 2, 5}, Shape{7, 4}, Shape{2, 4, 9}, Shape{2, 4, 4, 5}}) {
    std::vector<TensorType> inputs(1 + others, c);
    inputs[0] = {DType::f32, x};
    all.push_back({.inputs = inputs});
  }
  return all;
}

std::vector<TensorType> infer_cumulative(const Attributes& attributes, Types in) {
  expect_inputs(in, 6, "x, weight, bias, running_mean, running_var, batches");
  expect_channels(attributes, in);
  return {in[0], in[1], in[1], in[3], in[4], in[5]};
}

std::vector<TensorType> infer_untracked(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, weight, bias");
  expect_channels(attributes, in);
  return {in[0], in[1], in[1]};
}

std::vector<TensorType> infer_gradients(const Attributes&, Types in) {
  expect_inputs(in, 5, "dy, x, mean, inverse_std, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0], in[2], in[2]};
}

/// Computes dx from dy and x, inputs 0 and 1, for a block whose gradient sums are `sums`.
void put_input_gradient(const KernelCall& call, const ChannelBlock& block,
                        const GradientSums* sums) {
  const float *const inverse_std = block.of(call.inputs[3]), *weight = block.of(call.inputs[4]);
  const auto count = static_cast<double>(block.runs.samples * block.runs.length);
  float factors[ChannelBlock::most_channels], slopes[ChannelBlock::most_channels],
      offsets[ChannelBlock::most_channels];
  for (std::int64_t c = 0; c < block.runs.channels; ++c) {
    const GradientSums means = scaled(sums[c], static_cast<double>(weight[c]) / count);
    const auto scale = static_cast<double>(inverse_std[c]);
    factors[c] = weight[c] * inverse_std[c];
    slopes[c] = static_cast<float>(means.dy_x * scale * scale);
    offsets[c] = static_cast<float>(means.dy * scale);
  }
  kernel_table().channel_norms.input_gradient(
      block.runs, block.of(call.inputs[2]), factors, slopes, offsets, block.in(call.inputs[0]),
      block.in(call.inputs[1]), block.in(call.outputs[0]), floats(call.workspace));
}

void forward_gradients(const KernelCall& call) {
  for_each_block(call, call.inputs[0].shape(), [&](const ChannelBlock& block) {
    GradientSums sums[ChannelBlock::most_channels];
    sum_gradients(call, block, block.of(call.inputs[2]), block.of(call.inputs[3]), sums);
    put_input_gradient(call, block, sums);
    put_gradients(block, sums, call.outputs[1], call.outputs[2]);
  });
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

const Op batch_norm_gradients{.name = "batch_norm_gradients",
                              .infer = infer_gradients,
                              .forward = forward_gradients,
                              .cost = streaming_cost<10>,
                              .workspace = channel_workspace,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
