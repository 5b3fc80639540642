#include "graph/ops/norms/batch_norm_gradients.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/channels.hpp"
#include "graph/ops/norms/finish.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer_gradients(const Attributes&, Types in) {
  expect_inputs(in, 5, "dy, x, mean, inverse_std, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0], in[2], in[2]};
}

std::vector<TensorType> infer_clamped_gradients(const Attributes& attributes, Types in) {
  expect_inputs(in, 6, "dy, x, mean, inverse_std, weight, bias");
  expect_bounds(attributes);
  return infer_gradients(attributes, in.first(5));
}

/// Returns the block of dy, which is the gradient of what a norm by `factors` has clamped if the
/// call has the norm's bias as input 5.
ClampedGradient gradient_of(const KernelCall& call, const ChannelBlock& block,
                            const float* factors) {
  const float* const dy = block.in(call.inputs[0]);
  if (call.inputs.size() <= 5) return {.dy = dy};
  return {.dy = dy,
          .clamp = norm_clamp(call.attributes),
          .factor = factors,
          .shift = block.of(call.inputs[5])};
}

/// Computes dx for a block whose gradient sums are `sums`. The norm has multiplied by `factors`.
void put_input_gradient(const KernelCall& call, const ChannelBlock& block, const float* factors,
                        const ClampedGradient& gradient, const GradientSums* sums) {
  const float *const inverse_std = block.of(call.inputs[3]), *weight = block.of(call.inputs[4]);
  const auto count = static_cast<double>(block.runs.samples * block.runs.length);
  float slopes[ChannelBlock::most_channels], offsets[ChannelBlock::most_channels];
  for (std::int64_t c = 0; c < block.runs.channels; ++c) {
    const GradientSums means = scaled(sums[c], static_cast<double>(weight[c]) / count);
    const auto scale = static_cast<double>(inverse_std[c]);
    slopes[c] = static_cast<float>(means.dy_x * scale * scale);
    offsets[c] = static_cast<float>(means.dy * scale);
  }
  kernel_table().channel_norms.input_gradient(block.runs, block.of(call.inputs[2]), factors, slopes,
                                              offsets, gradient, block.in(call.inputs[1]),
                                              block.in(call.outputs[0]), floats(call.workspace));
}

void forward_gradients(const KernelCall& call) {
  for_each_block(call, call.inputs[0].shape(), [&](const ChannelBlock& block) {
    float factors[ChannelBlock::most_channels];
    put_factors(block, block.of(call.inputs[3]), block.of(call.inputs[4]), factors);
    const ClampedGradient gradient = gradient_of(call, block, factors);
    GradientSums sums[ChannelBlock::most_channels];
    sum_gradients(call, block, block.of(call.inputs[2]), block.of(call.inputs[3]), gradient,
                  block.in(call.inputs[1]), sums);
    put_input_gradient(call, block, factors, gradient, sums);
    put_gradients(block, sums, call.outputs[1], call.outputs[2]);
  });
}

}  // namespace

const Op batch_norm_gradients{.name = "batch_norm_gradients",
                              .infer = infer_gradients,
                              .forward = forward_gradients,
                              .cost = streaming_cost<10>,
                              .workspace = channel_workspace,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}, {1, 0}}};

const Op clamped_batch_norm_gradients{
    .name = "clamped_batch_norm_gradients",
    .attributes = {attribute::lower_bound, attribute::upper_bound},
    .infer = infer_clamped_gradients,
    .forward = forward_gradients,
    .cost = streaming_cost<11>,
    .workspace = channel_workspace,
    .units = axis_units<1>,
    .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
