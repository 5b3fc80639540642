// A convolution with padding is computed as one without padding, of planes to which a border of
// zeros has been added. The build compiles these functions once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

inline bool has_padding(const LaneConvolution& conv) {
  return conv.padding_height != 0 || conv.padding_width != 0;
}
inline std::int64_t padded_height(const LaneConvolution& conv) {
  return conv.height + 2 * conv.padding_height;
}
inline std::int64_t padded_width(const LaneConvolution& conv) {
  return conv.width + 2 * conv.padding_width;
}

/// Copies `x` [C,H,W,16], one block of samples, with a border of zeros to `workspace`, and returns
/// the copy. If the convolution has no padding, copies nothing and returns `x`.
const float* with_padding(const LaneConvolution& conv, const float* x, float* workspace);

/// Copies some channels of `padded`, without their border, to `x` [C,H,W,16].
void without_padding(const LaneConvolution& conv, Part channels, const float* padded, float* x);

}  // namespace penstock::graph::PENSTOCK_ISA
