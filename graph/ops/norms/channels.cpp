#include "graph/ops/norms/channels.hpp"

#include <algorithm>
#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

Channels::Channels(const Operand& x)
    : data_(x.f32().data()), samples_(x.shape()[0]), channels_(x.shape()[1]) {
  const std::int64_t runs = samples_ * channels_;
  length_ = runs > 0 ? x.elements() / runs : 0;
}

Channels Channels::copied(std::int64_t channel, float* to) const {
  for_each_run(channel, [&](std::int64_t sample, const float* run) {
    std::copy_n(run, length_, to + sample * length_);
  });
  return {to, count()};
}

void Channels::replace(std::int64_t channel, const float* from) const {
  for_each_run(channel, [&](std::int64_t sample, float* run) {
    std::copy_n(from + sample * length_, length_, run);
  });
}

Channel channel_of(const Channels& all, std::int64_t number, float* memory) {
  return all.is_short() ? Channel{all.copied(number, memory), 0} : Channel{all, number};
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

void normalise_channel(const KernelCall& call, std::int64_t number, const Channel& x,
                       const Moments& moments) {
  const auto c = static_cast<std::size_t>(number);
  const float weight = call.inputs[1].f32()[c], bias = call.inputs[2].f32()[c];
  const Channels all(call.outputs[0]);
  const Channel y = all.is_short() ? x : Channel{all, number};
  x.for_each_run([&](std::int64_t n, const float* run) {
    kernel_table().norms.normalise(x.length(), moments, weight, bias, run, y.run(n));
  });
  if (all.is_short()) all.replace(number, x.run(0));
}

GradientSums channel_gradient_sums(const Channel& dy, const Channel& x, const Moments& moments) {
  GradientSums sums;
  x.for_each_run([&](std::int64_t sample, const float* run) {
    add_to(sums, kernel_table().norms.gradient_sums(x.length(), moments, dy.run(sample), run));
  });
  return sums;
}

}  // namespace penstock::graph
