#include "graph/kernels/channels.hpp"

namespace penstock::graph::kernels {

Channels::Channels(const Operand& x)
    : data_(x.f32().data()), samples_(x.shape()[0]), channels_(x.shape()[1]) {
  const std::int64_t runs = samples_ * channels_;
  inner_ = runs > 0 ? x.elements() / runs : 0;
}

GradientSums channel_gradient_sums(const Channels& dy, const Channels& x, std::int64_t channel,
                                   const Moments& moments) {
  GradientSums sums;
  x.for_each_run(channel, [&](std::int64_t sample, const Run& run) {
    sums += gradient_sums(dy.run(sample, channel), run, moments);
  });
  return sums;
}

}  // namespace penstock::graph::kernels
