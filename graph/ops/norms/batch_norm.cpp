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

struct Statistics {
  double mean;
  double variance;  ///< `variance` is the biased variance, which divides by the number of elements.
};

Statistics statistics(const Channel& x) {
  const auto count = static_cast<double>(x.all.count());
  double sum = 0, squares = 0;
  x.for_each_run([&](std::int64_t, const float* run) {
    sum += kernel_table().reductions.sum(x.length(), run);
  });
  const auto mean = static_cast<float>(sum / count);
  x.for_each_run([&](std::int64_t, const float* run) {
    squares += kernel_table().norms.squared_deviations(x.length(), mean, run);
  });
  return {mean, squares / count};
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
  const Channels x(call.inputs[0]);
  expect_variance(*call.inputs[0].type);
  const auto count = static_cast<double>(x.count());
  for_each_channel(call, x, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const Channel elements = channel_of(x, channel, floats(call.workspace));
    const auto [mean, variance] = statistics(elements);
    const Moments moments{static_cast<float>(mean), inverse_std(call, variance)};
    normalise_channel(call, channel, elements, moments);
    call.outputs[1].f32()[c] = moments.mean;
    call.outputs[2].f32()[c] = moments.inverse_std;
    keep(c, mean, variance * count / (count - 1));
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

void forward_gradients(const KernelCall& call) {
  const Channels dy(call.inputs[0]), x(call.inputs[1]), dx(call.outputs[0]);
  float* const memory = floats(call.workspace);
  for_each_channel(call, x, [&](std::int64_t c) {
    const auto moments = stored_moments(call.inputs[2], call.inputs[3], c);
    const float weight = call.inputs[4].f32()[static_cast<std::size_t>(c)];
    const Channel own_dy = channel_of(dy, c, memory), own_x = channel_of(x, c, memory + x.count());
    const Channel to = dx.is_short() ? own_dy : Channel{dx, c};
    const GradientSums sums = channel_gradient_sums(own_dy, own_x, moments);
    const auto means = scaled(sums, weight / static_cast<double>(x.count()));
    own_x.for_each_run([&](std::int64_t n, const float* run) {
      kernel_table().norms.input_gradient(own_x.length(), moments, weight, means, own_dy.run(n),
                                          run, to.run(n));
    });
    if (dx.is_short()) dx.replace(c, to.run(0));
    const auto channel = static_cast<std::size_t>(c);
    call.outputs[1].f32()[channel] = static_cast<float>(sums.dy_x);
    call.outputs[2].f32()[channel] = static_cast<float>(sums.dy);
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
                    .workspace = channel_workspace<1>,
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
                               .workspace = channel_workspace<1>,
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
                              .workspace = channel_workspace<1>,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}},
                              .lane_use = lane_use,
                              .samples = samples<2>,
                              .has_batch_statistics = true};

const Op batch_norm_gradients{.name = "batch_norm_gradients",
                              .infer = infer_gradients,
                              .forward = forward_gradients,
                              .cost = streaming_cost<10>,
                              .workspace = channel_workspace<2>,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
