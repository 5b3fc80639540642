#include "graph/ops/norms/channels.hpp"

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {

Channels::Channels(const Operand& x)
    : data_(x.f32().data()), samples_(x.shape()[0]), channels_(x.shape()[1]) {
  const std::int64_t runs = samples_ * channels_;
  length_ = runs > 0 ? x.elements() / runs : 0;
}

GradientSums channel_gradient_sums(const Channels& dy, const Channels& x, std::int64_t channel,
                                   const Moments& moments) {
  GradientSums sums;
  x.for_each_run(channel, [&](std::int64_t sample, const float* run) {
    add_to(sums,
           kernel_table().norms.gradient_sums(x.length(), moments, dy.run(sample, channel), run));
  });
  return sums;
}

}  // namespace penstock::graph
