#include "graph/ops/norms/batch_norm2d.hpp"

#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute momentum{"momentum", 0.1};

}  // namespace attribute
namespace {

float inverse_std(const KernelCall& call, double variance) {
  return static_cast<float>(1 / std::sqrt(variance + attribute::norm_eps.of(call.attributes)));
}

/// Calls `visit(channel)` for each channel of the call's part.
template <class Visit>
void for_each_channel(const KernelCall& call, const Channels& x, Visit visit) {
  const Part channels = within(call.part, x.channels());
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) visit(channel);
}

/// Writes one channel of output 0, which is the normalised x. The inputs are x, weight and bias.
void normalise(const KernelCall& call, std::int64_t channel, const Moments& moments) {
  const Channels x(call.inputs[0]), y(call.outputs[0]);
  const auto c = static_cast<std::size_t>(channel);
  const float weight = call.inputs[1].f32()[c], bias = call.inputs[2].f32()[c];
  x.for_each_run(channel, [&](std::int64_t n, const float* run) {
    kernel_table().norms.normalise(x.length(), moments, weight, bias, run, y.run(n, channel));
  });
}

/// Maps (dy, x, two statistics) to (dweight, dbias). `moments_of` makes the moments of a channel
/// from the two statistics.
template <Moments (*moments_of)(const KernelCall&, std::size_t channel)>
void forward_weight_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), x(call.inputs[1]);
  for_each_channel(call, x, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const auto sums = channel_gradient_sums(dy, x, channel, moments_of(call, c));
    call.outputs[0].f32()[c] = static_cast<float>(sums.dy_x);
    call.outputs[1].f32()[c] = static_cast<float>(sums.dy);
  });
}
Moments stored(const KernelCall& call, std::size_t channel) {
  return stored_moments(call.inputs[2], call.inputs[3], static_cast<std::int64_t>(channel));
}
Moments running(const KernelCall& call, std::size_t channel) {
  return {call.inputs[2].f32()[channel], inverse_std(call, call.inputs[3].f32()[channel])};
}

std::vector<TensorType> infer_running(const Attributes& attributes, Types in) {
  expect_inputs(in, 5, "x, weight, bias, running_mean, running_var");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 4, "x");
  expect_elements(in[0], "x");
  expect_eps(attributes);
  constexpr const char* names[] = {"x", "weight", "bias", "running_mean", "running_var"};
  for (std::size_t i = 1; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], {in[0].shape[1]}, names[i]);
  }
  return {in[0]};
}

void forward_running(const KernelCall& call) {
  for_each_channel(call, Channels(call.inputs[0]), [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    normalise(call, channel, {call.inputs[3].f32()[c], inverse_std(call, call.inputs[4].f32()[c])});
  });
}

void backward_running(GradientContext& context) {
  const ValueId dy = context.gradient(0), x = context.input(0);
  const ValueId mean = context.input(3), variance = context.input(4);
  if (context.needs(0))
    context.set(0, context.emit(batch_norm2d_inference_input_gradient,
                                {dy, context.input(1), variance}, context.attributes()));
  if (!context.needs(1) && !context.needs(2)) return;
  const auto gradients = context.emit_all(batch_norm2d_inference_weight_gradient,
                                          {dy, x, mean, variance}, context.attributes());
  context.set(1, gradients[0]);
  context.set(2, gradients[1]);
}

std::vector<OpSample> running_samples() {
  const TensorType x{DType::f32, {3, 4, 2, 5}}, c{DType::f32, {4}};
  return {{.inputs = {x, c, c, c, c}, .low = 0.5, .high = 2, .constants = {3, 4}}};
}

std::vector<TensorType> infer_running_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "dy, weight, running_var");
  return {in[0]};
}

void forward_running_input_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), dx(call.outputs[0]);
  for_each_channel(call, dy, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const float slope = call.inputs[1].f32()[c] * inverse_std(call, call.inputs[2].f32()[c]);
    dy.for_each_run(channel, [&](std::int64_t n, const float* run) {
      kernel_table().arithmetic.scale(dy.length(), slope, run, dx.run(n, channel));
    });
  });
}

std::vector<TensorType> infer_running_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, running_mean, running_var");
  return {in[2], in[2]};
}

const Op& inference() {
  return batch_norm2d_inference;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const auto y = batch_norm2d_inference.infer(attributes, in)[0];
  expect_between(attribute::momentum.of(attributes), 0, 1, "momentum");
  return {y, in[1], in[1], in[3], in[4]};
}

struct Statistics {
  double mean;
  double variance;  ///< `variance` is the biased variance, which divides by the number of elements.
};

Statistics statistics(const Channels& x, std::int64_t channel) {
  const auto count = static_cast<double>(x.count());
  double sum = 0, squares = 0;
  x.for_each_run(channel, [&](std::int64_t, const float* run) {
    sum += kernel_table().reductions.sum(x.length(), run);
  });
  const auto mean = static_cast<float>(sum / count);
  x.for_each_run(channel, [&](std::int64_t, const float* run) {
    squares += kernel_table().norms.squared_deviations(x.length(), mean, run);
  });
  return {mean, squares / count};
}

/// Moves a channel's running statistic, which is input `i` and output `i`, towards `value` by the
/// attribute momentum.
void update(const KernelCall& call, std::size_t i, std::size_t channel, double value) {
  const double momentum = attribute::momentum.of(call.attributes);
  const double old = call.inputs[i].f32()[channel];
  call.outputs[i].f32()[channel] = static_cast<float>(old * (1 - momentum) + value * momentum);
}

void expect_variance(const TensorType& x) {
  if (x.shape.elements() / x.shape[1] < 2)
    throw Error(Errc::shape_mismatch,
                "expected more than one value per channel to train on, got " + to_string(x));
}

void forward(const KernelCall& call) {
  const Channels x(call.inputs[0]);
  expect_variance(*call.inputs[0].type);
  const auto count = static_cast<double>(x.count());
  for_each_channel(call, x, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const auto [mean, variance] = statistics(x, channel);
    const Moments moments{static_cast<float>(mean), inverse_std(call, variance)};
    normalise(call, channel, moments);
    call.outputs[1].f32()[c] = moments.mean;
    call.outputs[2].f32()[c] = moments.inverse_std;
    update(call, 3, c, mean);
    update(call, 4, c, variance * count / (count - 1));
  });
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  const ValueId mean = context.output(1), inverse_std = context.output(2);
  // The forward makes this check, too. It is also made here, when a model is compiled, so that a
  // model that cannot be trained is refused then.
  expect_variance(context.type(x));
  if (context.needs(0))
    context.set(0, context.emit(batch_norm2d_input_gradient, {dy, x, mean, inverse_std, weight}));
  if (!context.needs(1) && !context.needs(2)) return;
  const auto gradients = context.emit_all(batch_norm2d_weight_gradient, {dy, x, mean, inverse_std});
  context.set(1, gradients[0]);
  context.set(2, gradients[1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 4, 2, 5}}, c{DType::f32, {4}};
  return {{.inputs = {x, c, c, c, c}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 5, "dy, x, mean, inverse_std, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward_input_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), x(call.inputs[1]), dx(call.outputs[0]);
  for_each_channel(call, x, [&](std::int64_t c) {
    const auto moments = stored_moments(call.inputs[2], call.inputs[3], c);
    const float weight = call.inputs[4].f32()[static_cast<std::size_t>(c)];
    const auto means =
        scaled(channel_gradient_sums(dy, x, c, moments), weight / static_cast<double>(x.count()));
    x.for_each_run(c, [&](std::int64_t n, const float* run) {
      kernel_table().norms.input_gradient(x.length(), moments, weight, means, dy.run(n, c), run,
                                          dx.run(n, c));
    });
  });
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, mean, inverse_std");
  return {in[2], in[2]};
}

}  // namespace

const Op batch_norm2d{.name = "batch_norm2d",
                      .onnx = "BatchNormalization",
                      .attributes = {attribute::norm_eps, attribute::momentum},
                      .infer = infer,
                      .forward = forward,
                      .backward = backward,
                      .cost = streaming_cost<6>,
                      .units = axis_units<1>,
                      .overwrites = {{0, 0}},
                      .updates = {{3, 3}, {4, 4}},
                      .inference = inference,
                      .samples = samples,
                      .has_batch_statistics = true};

const Op batch_norm2d_input_gradient{.name = "batch_norm2d_input_gradient",
                                     .infer = infer_input_gradient,
                                     .forward = forward_input_gradient,
                                     .cost = streaming_cost<10>,
                                     .units = axis_units<1>,
                                     .overwrites = {{0, 0}, {1, 0}}};

const Op batch_norm2d_weight_gradient{.name = "batch_norm2d_weight_gradient",
                                      .infer = infer_weight_gradient,
                                      .forward = forward_weight_gradient<stored>,
                                      .cost = streaming_cost<4>,
                                      .units = axis_units<0>};

const Op batch_norm2d_inference{.name = "batch_norm2d_inference",
                                .onnx = "BatchNormalization",
                                .attributes = {attribute::norm_eps},
                                .infer = infer_running,
                                .forward = forward_running,
                                .backward = backward_running,
                                .cost = streaming_cost<4>,
                                .units = axis_units<1>,
                                .overwrites = {{0, 0}},
                                .samples = running_samples};

const Op batch_norm2d_inference_input_gradient{.name = "batch_norm2d_inference_input_gradient",
                                               .attributes = {attribute::norm_eps},
                                               .infer = infer_running_input_gradient,
                                               .forward = forward_running_input_gradient,
                                               .cost = streaming_cost<1>,
                                               .units = axis_units<1>,
                                               .overwrites = {{0, 0}}};

const Op batch_norm2d_inference_weight_gradient{.name = "batch_norm2d_inference_weight_gradient",
                                                .attributes = {attribute::norm_eps},
                                                .infer = infer_running_weight_gradient,
                                                .forward = forward_weight_gradient<running>,
                                                .cost = streaming_cost<4>,
                                                .units = axis_units<0>};

}  // namespace penstock::graph
