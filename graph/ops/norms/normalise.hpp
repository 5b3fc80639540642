// Group, layer and batch norm share the declarations in this header: the moments of neighbouring
// elements, and the arithmetic of gradient sums.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/norms.hpp"

namespace penstock::graph {

/// Returns moments that a forward has stored: those with the number `i` in `mean` and
/// `inverse_std`.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// Returns the moments of the `count` elements from `x` on. The moments are computed in two passes:
/// the first pass finds the mean, and the second pass finds the variance as the mean of (x -
/// mean)².
Moments moments_of(std::int64_t count, const float* x, double eps);

inline void add_to(GradientSums& sums, const GradientSums& other, double factor = 1) {
  sums.dy += other.dy * factor;
  sums.dy_x += other.dy_x * factor;
}
inline GradientSums scaled(const GradientSums& sums, double factor) {
  return {sums.dy * factor, sums.dy_x * factor};
}

/// A Channels is the view of a tensor [N,C,...] by channel: each channel has N runs of neighbouring
/// elements.
class Channels {
 public:
  explicit Channels(const Operand& x);

  std::int64_t channels() const { return channels_; }
  /// Returns the number of elements of one channel; length() returns that of one of the channel's
  /// runs.
  std::int64_t count() const { return samples_ * length_; }
  std::int64_t length() const { return length_; }
  float* run(std::int64_t sample, std::int64_t channel) const {
    return data_ + (sample * channels_ + channel) * length_;
  }
  /// Calls `visit(sample, run)` for each sample in order. `run` is the run of `channel` in that
  /// sample.
  template <class Visit>
  void for_each_run(std::int64_t channel, Visit visit) const {
    for (std::int64_t sample = 0; sample < samples_; ++sample) visit(sample, run(sample, channel));
  }

 private:
  float* data_;
  std::int64_t samples_, channels_, length_;
};

/// Returns the gradient sums over all elements of `channel`.
GradientSums channel_gradient_sums(const Channels& dy, const Channels& x, std::int64_t channel,
                                   const Moments& moments);

}  // namespace penstock::graph
