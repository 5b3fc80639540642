#include "graph/kernels/lanes/padding.hpp"

#include "graph/kernels/lanes/tiles.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Calls `work(row, inner)` for every row of some channels. `row` is the offset of the row in
/// planes without a border, and `inner` is its offset in planes with a border.
template <class Work>
void for_each_row(const LaneConvolution& conv, Part channels, Work work) {
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel)
    for (std::int64_t row = 0; row < conv.height; ++row) {
      const std::int64_t padded_row = channel * padded_height(conv) + conv.padding_height + row;
      work((channel * conv.height + row) * conv.width * lanes,
           (padded_row * padded_width(conv) + conv.padding_width) * lanes);
    }
}

std::size_t row_bytes(const LaneConvolution& conv) {
  return sizeof(float) * static_cast<std::size_t>(conv.width * lanes);
}

}  // namespace

const float* with_padding(const LaneConvolution& conv, const float* x, float* workspace) {
  if (!has_padding(conv)) return x;
  const std::int64_t floats = conv.inputs * padded_height(conv) * padded_width(conv) * lanes;
  __builtin_memset(workspace, 0, sizeof(float) * static_cast<std::size_t>(floats));
  for_each_row(conv, {0, conv.inputs}, [&](std::int64_t row, std::int64_t inner) {
    __builtin_memcpy(workspace + inner, x + row, row_bytes(conv));
  });
  return workspace;
}

void without_padding(const LaneConvolution& conv, Part channels, const float* padded, float* x) {
  for_each_row(conv, channels, [&](std::int64_t row, std::int64_t inner) {
    __builtin_memcpy(x + row, padded + inner, row_bytes(conv));
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
