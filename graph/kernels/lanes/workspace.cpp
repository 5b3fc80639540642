#include "graph/kernels/lanes/workspace.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

constexpr std::int64_t lanes = 16;

std::int64_t cells(const LaneConvolution& conv) {
  return conv.kernel_height * conv.kernel_width;
}
std::int64_t pooled_pixels(const LaneConvolution& conv) {
  return (conv.out_height / 2) * (conv.out_width / 2);
}

}  // namespace

std::int64_t padded_floats(const LaneConvolution& conv) noexcept {
  if (conv.padding_height == 0 && conv.padding_width == 0) return 0;
  return lanes * conv.inputs * (conv.height + 2 * conv.padding_height) *
         (conv.width + 2 * conv.padding_width);
}

std::int64_t depthwise_floats(const LaneConvolution& conv) noexcept {
  return padded_floats(conv) / conv.inputs;
}

std::int64_t depthwise_weight_gradient_floats(const LaneConvolution& conv) noexcept {
  return depthwise_floats(conv) + lanes * cells(conv);
}

LaneWeightGradientWorkspace weight_gradient_workspace(const LaneConvolution& conv) noexcept {
  const std::int64_t sums = 0;
  const std::int64_t padded = sums + lanes * conv.outputs * conv.inputs * cells(conv);
  return {sums, padded, padded + padded_floats(conv)};
}

PoolInputGradientWorkspace pool_input_gradient_workspace(const LaneConvolution& conv) noexcept {
  const std::int64_t columns = conv.inputs * (conv.kernel_height + 1);
  const std::int64_t pixels = conv.out_height * conv.out_width;
  const std::int64_t routes = 0;
  const std::int64_t tables = routes + route_floats * conv.outputs * pooled_pixels(conv);
  const std::int64_t padded = tables + lanes * conv.outputs * std::max(columns, pixels);
  return {routes, tables, padded, padded + padded_floats(conv)};
}

PoolWeightGradientWorkspace pool_weight_gradient_workspace(const LaneConvolution& conv) noexcept {
  const std::int64_t blocks = (conv.samples + lanes - 1) / lanes;
  const std::int64_t sums = 0;
  const std::int64_t routes = sums + most_routed_outputs * lanes * cells(conv);
  const std::int64_t padded =
      routes + most_routed_outputs * blocks * pooled_pixels(conv) * route_floats;
  return {sums, routes, padded, padded + blocks * padded_floats(conv)};
}

}  // namespace penstock::graph
