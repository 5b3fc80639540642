// Channels sees a tensor [N,C,...] by channel: each channel has N runs of neighbouring elements.
#pragma once

#include "graph/ops/norms/normalise.hpp"

namespace penstock::graph {

class Channels {
 public:
  explicit Channels(const Operand& x);

  std::int64_t channels() const { return channels_; }
  /// Counts the elements of one channel; length() counts those of one of its runs.
  std::int64_t count() const { return samples_ * length_; }
  std::int64_t length() const { return length_; }
  float* run(std::int64_t sample, std::int64_t channel) const {
    return data_ + (sample * channels_ + channel) * length_;
  }
  /// Calls `visit(sample, run)` for each sample in order.
  template <class Visit>
  void for_each_run(std::int64_t channel, Visit visit) const {
    for (std::int64_t sample = 0; sample < samples_; ++sample) visit(sample, run(sample, channel));
  }

 private:
  float* data_;
  std::int64_t samples_, channels_, length_;
};

/// Returns the sums over a whole channel.
GradientSums channel_gradient_sums(const Channels& dy, const Channels& x, std::int64_t channel,
                                   const Moments& moments);

}  // namespace penstock::graph
