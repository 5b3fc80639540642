// The workspaces of the depthwise kernels are planes with borders of zeros, so that every tap of
// the kernel reads a run of neighbouring floats, or transposed planes of several channels. This
// header has declarations only, because sources
// of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/depthwise/depthwise.hpp"

namespace penstock::graph {

/// A DepthwiseWorkspace says how large the planes of a workspace are, and where they begin in it.
struct DepthwiseWorkspace {
  std::int64_t pitch;    ///< Rows of the first plane are this many floats apart.
  std::int64_t rows;     ///< The first plane has this many rows.
  std::int64_t run;      ///< So many results are computed in one run over the first plane.
  std::int64_t results;  ///< The second plane, of the results of a run, begins here.
  std::int64_t sums;     ///< Behind it, sums of the gradients of a weight begin here.
  std::int64_t end;      ///< The workspace has this many floats.
};

/// Returns the workspace of a convolution: the first plane is the image with its padding.
DepthwiseWorkspace depthwise_workspace(const DepthwiseConvolution& conv);
/// Returns the workspace of the gradient of the input: the first plane is the gradient of the
/// output with zeros between its pixels, if the stride is above 1, and around them.
DepthwiseWorkspace depthwise_input_gradient_workspace(const DepthwiseConvolution& conv);
/// Returns the workspace of the gradient of the weight: the first plane is the image with its
/// padding, and the second the gradient of the output, pixel by pixel at the place of the image's
/// pixel that the first tap reads.
DepthwiseWorkspace depthwise_weight_gradient_workspace(const DepthwiseConvolution& conv);

/// A convolution has at most this many places and taps along an axis if it is computed by Vectors
/// of neighbouring channels. The channels are divided into blocks of `depthwise_block` of them, in
/// the same way for every instruction set.
inline constexpr std::int64_t depthwise_places = 64, depthwise_taps = 8, depthwise_block = 16;

/// Returns whether `conv` is computed by Vectors of neighbouring channels. Images are so small that
/// caches keep the transposed planes of a block, and the channels fill nearly all of their blocks.
/// In images of more than 24 pixels beside each other, AVX-512 computes the forward pass with a
/// stride of 1 up to a third slower in this way, but the gradient of the input faster; with AVX2,
/// all passes are faster.
bool convolves_by_channels(const DepthwiseConvolution& conv);
/// Returns the number of blocks of channels.
std::int64_t depthwise_blocks(const DepthwiseConvolution& conv);

/// A ChannelsWorkspace says where the transposed planes of x and y, the transposed weights or their
/// gradients, and room for the planes of a block of tiny images begin, in floats.
struct ChannelsWorkspace {
  std::int64_t x, y, weights, spare, end;
};
ChannelsWorkspace channels_workspace(const DepthwiseConvolution& conv);

}  // namespace penstock::graph
