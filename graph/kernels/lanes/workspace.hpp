// The batch-lane kernels divide their workspace into regions as the structs of this header say, and
// their ops ask for workspaces of that size. Each number of a struct is the index of the float at
// which a region begins; `end` is where the last region ends.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph {

/// A route has this many floats: the gradients of 16 lanes, then the winners of 16 lanes as
/// integers.
inline constexpr std::int64_t route_floats = 2 * 16;
/// The gradient of the weights of a convolution with pooling works on at most this many output
/// channels at a time under every instruction set.
inline constexpr int most_routed_outputs = 2;

/// Returns how many floats one block of samples of the input takes with its border, or 0 if there
/// is no padding.
std::int64_t padded_floats(const LaneConvolution& conv) noexcept;

/// Returns how many floats one channel of a block of samples takes with its border, or 0 if there
/// is no padding.
std::int64_t depthwise_floats(const LaneConvolution& conv) noexcept;
/// Returns how many floats depthwise_floats() are, together with the gradients of one channel's
/// weights in each lane, which lie behind them.
std::int64_t depthwise_weight_gradient_floats(const LaneConvolution& conv) noexcept;

/// This workspace has regions for the gradient of the weights in each lane, and for a block of
/// samples of the input with its border.
struct LaneWeightGradientWorkspace {
  std::int64_t sums, padded, end;
};
LaneWeightGradientWorkspace weight_gradient_workspace(const LaneConvolution& conv) noexcept;

/// This workspace has regions for the routes of a block of samples, for the tables of weights or
/// the gradients of all pixels of a block (whichever is needed), and for a block of the input with
/// its border.
struct PoolInputGradientWorkspace {
  std::int64_t routes, tables, padded, end;
};
PoolInputGradientWorkspace pool_input_gradient_workspace(const LaneConvolution& conv) noexcept;

/// This workspace has regions for the gradient of the weights of a few output channels in each
/// lane, for the routes of these channels in all blocks of samples, and for all blocks of the input
/// with their borders.
struct PoolWeightGradientWorkspace {
  std::int64_t sums, routes, padded, end;
};
PoolWeightGradientWorkspace pool_weight_gradient_workspace(const LaneConvolution& conv) noexcept;

}  // namespace penstock::graph
