#include "graph/kernels/depthwise/workspace.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

/// Kernels read and write less than a vector, which has 16 floats at most, behind a run. More than
/// that stays free, so that a plane begins at a new line of the cache.
constexpr std::int64_t slack = 32;

std::int64_t extent(std::int64_t dilation, std::int64_t kernel) {
  return dilation * (kernel - 1);
}

DepthwiseWorkspace planes(std::int64_t rows, std::int64_t pitch, std::int64_t run,
                          std::int64_t sums) {
  const std::int64_t results = rows * pitch + slack;
  return {.pitch = pitch,
          .rows = rows,
          .run = run,
          .results = results,
          .sums = results + run + slack,
          .end = results + run + slack + sums};
}

}  // namespace

DepthwiseWorkspace depthwise_workspace(const DepthwiseConvolution& conv) {
  const std::int64_t pitch = conv.width + 2 * conv.padding_width;
  const std::int64_t row = (conv.out_width - 1) * conv.stride_width + 1;
  const std::int64_t rows = conv.stride_height == 1 ? conv.out_height : 1;
  return planes(conv.height + 2 * conv.padding_height, pitch, (rows - 1) * pitch + row, 0);
}

DepthwiseWorkspace depthwise_input_gradient_workspace(const DepthwiseConvolution& conv) {
  const std::int64_t pitch = conv.width + extent(conv.dilation_width, conv.kernel_width);
  return planes(conv.height + extent(conv.dilation_height, conv.kernel_height), pitch,
                (conv.height - 1) * pitch + conv.width, 0);
}

DepthwiseWorkspace depthwise_weight_gradient_workspace(const DepthwiseConvolution& conv) {
  constexpr std::int64_t most_lanes = 16;
  const std::int64_t pitch = conv.width + 2 * conv.padding_width;
  const std::int64_t run = (conv.out_height - 1) * conv.stride_height * pitch +
                           (conv.out_width - 1) * conv.stride_width + 1;
  return planes(conv.height + 2 * conv.padding_height, pitch, run,
                conv.kernel_height * conv.kernel_width * most_lanes);
}

bool convolves_by_channels(const DepthwiseConvolution& conv) {
  const std::int64_t computed = depthwise_blocks(conv) * depthwise_block;
  const auto is_small = [](std::int64_t size, std::int64_t outputs, std::int64_t taps) {
    return size <= depthwise_places && outputs <= depthwise_places && taps <= depthwise_taps;
  };
  return 6 * conv.channels >= 5 * computed &&
         is_small(conv.height, conv.out_height, conv.kernel_height) &&
         is_small(conv.width, conv.out_width, conv.kernel_width);
}

std::int64_t depthwise_blocks(const DepthwiseConvolution& conv) {
  return (conv.channels + depthwise_block - 1) / depthwise_block;
}

ChannelsWorkspace channels_workspace(const DepthwiseConvolution& conv) {
  // A square of Vectors may be written, or read, where there are fewer pixels.
  constexpr std::int64_t square = depthwise_block * depthwise_block;
  const auto planes = [=](std::int64_t pixels) {
    return std::max(pixels * depthwise_block, square);
  };
  const std::int64_t x = 0, y = x + planes(conv.height * conv.width);
  const std::int64_t weights = y + planes(conv.out_height * conv.out_width);
  const std::int64_t spare = weights + conv.kernel_height * conv.kernel_width * depthwise_block;
  return {x, y, weights, spare, spare + square + slack};
}

std::int64_t depthwise_units(const DepthwiseConvolution& conv) {
  return conv.samples * (convolves_by_channels(conv) ? depthwise_blocks(conv) : conv.channels);
}

std::int64_t depthwise_weight_units(const DepthwiseConvolution& conv) {
  return convolves_by_channels(conv) ? depthwise_blocks(conv) : conv.channels;
}

std::int64_t depthwise_floats(const DepthwiseConvolution& conv) {
  if (convolves_by_channels(conv)) return channels_workspace(conv).end;
  return depthwise_workspace(conv).end;
}

std::int64_t depthwise_input_gradient_floats(const DepthwiseConvolution& conv) {
  if (convolves_by_channels(conv)) return channels_workspace(conv).end;
  return depthwise_input_gradient_workspace(conv).end;
}

std::int64_t depthwise_weight_gradient_floats(const DepthwiseConvolution& conv) {
  if (convolves_by_channels(conv)) return channels_workspace(conv).end;
  return depthwise_weight_gradient_workspace(conv).end;
}

}  // namespace penstock::graph
