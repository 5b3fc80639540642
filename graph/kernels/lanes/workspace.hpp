// The batch-lane kernels divide their workspace into regions as the structs of this header say, and
// their ops ask for workspaces of that size. Each number of a struct is the float at which a region
// begins; `end` is where the last region ends.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph {

/// A route has this many floats: 16 gradients, then 16 winners as integers.
inline constexpr std::int64_t route_floats = 2 * 16;
/// The gradient of the weights of a convolution with pooling works on at most this many outputs at
/// a time, whatever the instruction set is.
inline constexpr int most_routed_outputs = 2;

/// Returns the floats of one block of the input with its padding, or 0 if there is no padding.
std::int64_t padded_floats(const LaneConvolution& conv) noexcept;

/// Has regions for the gradient of the weights in each lane, and for a block of the input with its
/// padding.
struct LaneWeightGradientWorkspace {
  std::int64_t sums, padded, end;
};
LaneWeightGradientWorkspace weight_gradient_workspace(const LaneConvolution& conv) noexcept;

/// Has regions for the routes of a block; for the tables, or else the gradients of all pixels of a
/// block; and for a block of the input with its padding.
struct PoolInputGradientWorkspace {
  std::int64_t routes, tables, padded, end;
};
PoolInputGradientWorkspace pool_input_gradient_workspace(const LaneConvolution& conv) noexcept;

/// Has regions for the gradient of the weights of a few outputs in each lane, for the routes of
/// these outputs in all blocks, and for all blocks of the input with their padding.
struct PoolWeightGradientWorkspace {
  std::int64_t sums, routes, padded, end;
};
PoolWeightGradientWorkspace pool_weight_gradient_workspace(const LaneConvolution& conv) noexcept;

}  // namespace penstock::graph
