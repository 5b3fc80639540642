#include "graph/ops/norms/channels.hpp"

#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

ChannelRuns all_channels(const Shape& x) {
  const std::int64_t sample = x.elements() / x[0];
  return {.samples = x[0], .sample = sample, .channels = x[1], .length = sample / x[1]};
}

std::int64_t block_channels(const ChannelRuns& all) {
  if (all.length >= long_run) return 1;
  const std::int64_t fit = std::clamp<std::int64_t>(ChannelBlock::most_columns / all.length, 1,
                                                    ChannelBlock::most_channels);
  return std::min(fit, all.channels);
}

std::int64_t channel_workspace(const Attributes&, Types in, Types) {
  const ChannelRuns all = all_channels(in[0].shape);
  if (all.length >= long_run) return 0;
  return column_floats * float_bytes * block_channels(all) * all.length;
}

float inverse_std(const KernelCall& call, double variance) {
  return static_cast<float>(1 / std::sqrt(variance + attribute::norm_eps.of(call.attributes)));
}

void expect_channels(const Attributes& attributes, Types in) {
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 2, "x");
  expect_elements(in[0], "x");
  expect_eps(attributes);
  constexpr const char* names[] = {"x", "weight", "bias", "running_mean", "running_var", "batches"};
  for (std::size_t i = 1; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], {in[0].shape[1]}, names[i]);
  }
}

void put_factors(const ChannelBlock& block, const float* inverse_std, const float* weight,
                 float* factors) {
  for (std::int64_t c = 0; c < block.runs.channels; ++c) factors[c] = inverse_std[c] * weight[c];
}

void normalise_block(const KernelCall& call, const ChannelBlock& block, const float* mean,
                     const float* inverse_std, const NormFinish& finish) {
  float factors[ChannelBlock::most_channels];
  put_factors(block, inverse_std, block.of(call.inputs[1]), factors);
  kernel_table().channel_norms.normalise(block.runs, mean, factors, block.of(call.inputs[2]),
                                         block.in(call.inputs[0]), finish.addend, finish.clamp,
                                         block.in(call.outputs[0]), floats(call.workspace));
}

void sum_gradients(const KernelCall& call, const ChannelBlock& block, const float* mean,
                   const float* inverse_std, const ClampedGradient& gradient, const float* x,
                   GradientSums* sums) {
  double dys[ChannelBlock::most_channels], products[ChannelBlock::most_channels];
  kernel_table().channel_norms.gradient_sums(block.runs, mean, gradient, x, dys, products,
                                             floats(call.workspace));
  for (std::int64_t c = 0; c < block.runs.channels; ++c)
    sums[c] = {dys[c], products[c] * static_cast<double>(inverse_std[c])};
}

void put_gradients(const ChannelBlock& block, const GradientSums* sums, const Operand& dweight,
                   const Operand& dbias) {
  for (std::int64_t c = 0; c < block.runs.channels; ++c) {
    block.of(dweight)[c] = static_cast<float>(sums[c].dy_x);
    block.of(dbias)[c] = static_cast<float>(sums[c].dy);
  }
}

}  // namespace penstock::graph
