#include "graph/kernels/lanes/workspace.hpp"

#include <algorithm>

namespace penstock::graph {

std::int64_t padded_floats(const LaneConvolution& conv) noexcept {
  if (conv.padding_height == 0 && conv.padding_width == 0) return 0;
  return 16 * conv.inputs * (conv.height + 2 * conv.padding_height) *
         (conv.width + 2 * conv.padding_width);
}

std::int64_t pool_input_gradient_floats(const LaneConvolution& conv) noexcept {
  const std::int64_t pixels = (conv.out_height / 2) * (conv.out_width / 2);
  const std::int64_t tables = conv.inputs * (conv.kernel_height + 1);
  const std::int64_t images = conv.out_height * conv.out_width;
  return padded_floats(conv) + 16 * conv.outputs * (2 * pixels + std::max(tables, images));
}

std::int64_t pool_weight_gradient_floats(const LaneConvolution& conv) noexcept {
  const std::int64_t pixels = (conv.out_height / 2) * (conv.out_width / 2);
  const std::int64_t blocks = (conv.samples + 15) / 16;
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  return 2 * 16 * cells + blocks * (2 * 32 * pixels + padded_floats(conv));
}

}  // namespace penstock::graph
