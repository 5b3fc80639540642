// Batch norm and its inference form share the declarations in this header: the view of a tensor by
// channel, and what both do with channels.
#pragma once

#include <algorithm>

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/channel_norms.hpp"
#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

/// A ChannelBlock is some neighbouring channels of a tensor [N,C,...], which are computed together.
struct ChannelBlock {
  /// A block has at most so many channels, so that arrays of numbers for each of them fit on the
  /// stack. If its runs are short, it has no more channels than make `most_columns` columns, so
  /// that caches keep it, unless there are many samples.
  static constexpr std::int64_t most_channels = 512, most_columns = 2048;

  ChannelRuns runs;
  std::int64_t first;  ///< This is the number of the first channel.

  /// Returns the place of the block's first element in a tensor of the same shape.
  float* in(const Operand& x) const { return x.f32().data() + first * runs.length; }
  /// Returns the place of the block's first number in a tensor that has one for each channel.
  float* of(const Operand& numbers) const { return numbers.f32().data() + first; }
};

/// Returns a block of all channels of `x`.
ChannelRuns all_channels(const Shape& x);
/// Returns how many channels of `all` a block has at most.
std::int64_t block_channels(const ChannelRuns& all);

/// Calls `visit(block)` for blocks that together have the channels of the call's part. `x` is the
/// shape of the tensor.
template <class Visit>
void for_each_block(const KernelCall& call, const Shape& x, Visit visit) {
  const ChannelRuns all = all_channels(x);
  const std::int64_t most = block_channels(all);
  const Part channels = within(call.part, all.channels);
  for (std::int64_t first = channels.begin; first < channels.end; first += most) {
    ChannelRuns runs = all;
    runs.channels = std::min(most, channels.end - first);
    visit(ChannelBlock{runs, first});
  }
}

/// Serves as Op::workspace of an op that works on the channels of input 0.
std::int64_t channel_workspace(const Attributes&, Types in, Types);

/// Returns 1/sqrt(variance + eps) for the attribute eps of the call.
float inverse_std(const KernelCall& call, double variance);

/// Checks x [N,C,...], and the other inputs, which have an element for each channel.
void expect_channels(const Attributes& attributes, Types inputs);

/// Writes by what a norm multiplies each channel of the block to `factors`. `inverse_std` and
/// `weight` have a number for each channel of the block.
void put_factors(const ChannelBlock& block, const float* inverse_std, const float* weight,
                 float* factors);

/// A NormFinish says what a norm does with what it has normalised: it adds the elements of the
/// block of another tensor, unless `addend` is null, and then clamps the sum.
struct NormFinish {
  const float* addend = nullptr;
  NormClamp clamp = {};
};

/// Writes the block of output 0, which is the normalised and finished input 0. Inputs 1 and 2 are
/// the weight and the bias. `mean` and `inverse_std` have a number for each channel of the block.
void normalise_block(const KernelCall& call, const ChannelBlock& block, const float* mean,
                     const float* inverse_std, const NormFinish& finish = {});

/// Computes the gradient sums of the channels of a block to `sums`. `gradient` and `x` have the
/// elements of the block, as block.in() returns them.
void sum_gradients(const KernelCall& call, const ChannelBlock& block, const float* mean,
                   const float* inverse_std, const ClampedGradient& gradient, const float* x,
                   GradientSums* sums);

/// Writes the gradient sums of a block's channels to `dweight` and `dbias`.
void put_gradients(const ChannelBlock& block, const GradientSums* sums, const Operand& dweight,
                   const Operand& dbias);

}  // namespace penstock::graph
