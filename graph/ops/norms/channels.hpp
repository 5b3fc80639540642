// Batch norm and its inference form share the declarations in this header: the view of a tensor by
// channel, and what both do with a channel.
#pragma once

#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

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
  /// Returns whether the runs are so short that kernels work faster on copies of whole channels.
  bool is_short() const { return is_short(samples_, length_); }
  static bool is_short(std::int64_t samples, std::int64_t length) {
    return samples > 1 && length < 16;
  }
  /// Copies the runs of `channel`, one behind the other, to the count() floats from `to` on.
  /// Returns the view of the copy, which is one run of one channel.
  Channels copied(std::int64_t channel, float* to) const;
  /// Replaces the elements of `channel` by the count() floats from `from` on.
  void replace(std::int64_t channel, const float* from) const;

  /// Calls `visit(sample, run)` for each sample in order. `run` is the run of `channel` in that
  /// sample.
  template <class Visit>
  void for_each_run(std::int64_t channel, Visit visit) const {
    for (std::int64_t sample = 0; sample < samples_; ++sample) visit(sample, run(sample, channel));
  }

 private:
  Channels(float* data, std::int64_t length)
      : data_(data), samples_(1), channels_(1), length_(length) {}

  float* data_;
  std::int64_t samples_, channels_, length_;
};

/// A Channel is one channel of a tensor, or of a copy of it, as Channels sees them.
struct Channel {
  Channels all;
  std::int64_t number;

  /// Calls `visit(sample, run)` for each run.
  template <class Visit>
  void for_each_run(Visit visit) const {
    all.for_each_run(number, visit);
  }
  float* run(std::int64_t sample) const { return all.run(sample, number); }
  std::int64_t length() const { return all.length(); }
};

/// Returns channel `number` of `all` or, if its runs are short, a copy of it in `memory`.
Channel channel_of(const Channels& all, std::int64_t number, float* memory);

/// Serves as Op::workspace of an op that copies `copies` tensors channel by channel if the runs of
/// input 0 are short.
template <int copies>
std::int64_t channel_workspace(const Attributes&, Types in, Types) {
  const Shape& x = in[0].shape;
  const std::int64_t count = x.elements() / x[1];
  return Channels::is_short(x[0], count / x[0]) ? copies * count * float_bytes : 0;
}

/// Returns 1/sqrt(variance + eps) for the attribute eps of the call.
float inverse_std(const KernelCall& call, double variance);

/// Checks x [N,C,...], and the other inputs, which have an element for each channel.
void expect_channels(const Attributes& attributes, Types inputs);

/// Calls `visit(channel)` for each channel of the call's part.
template <class Visit>
void for_each_channel(const KernelCall& call, const Channels& x, Visit visit) {
  const Part channels = within(call.part, x.channels());
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) visit(channel);
}

/// Writes channel `number` of output 0, which is the normalised `x`. The inputs are x, weight and
/// bias. The memory of a copy of x takes the results first.
void normalise_channel(const KernelCall& call, std::int64_t number, const Channel& x,
                       const Moments& moments);

/// Returns the gradient sums over all elements of a channel.
GradientSums channel_gradient_sums(const Channel& dy, const Channel& x, const Moments& moments);

/// Maps (dy, x, two statistics) to (dweight, dbias). `moments_of` makes the moments of a channel
/// from the two statistics.
template <Moments (*moments_of)(const KernelCall&, std::size_t channel)>
void forward_weight_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), x(call.inputs[1]);
  float* const memory = floats(call.workspace);
  for_each_channel(call, x, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const auto sums =
        channel_gradient_sums(channel_of(dy, channel, memory),
                              channel_of(x, channel, memory + x.count()), moments_of(call, c));
    call.outputs[0].f32()[c] = static_cast<float>(sums.dy_x);
    call.outputs[1].f32()[c] = static_cast<float>(sums.dy);
  });
}

}  // namespace penstock::graph
