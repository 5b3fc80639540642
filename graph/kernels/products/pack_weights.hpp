// The weights of a convolution are packed in the order in which tiles read them. The build compiles
// this function once per instruction set.
#pragma once

#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Writes to[channel][tap][i], the weights of the results `result` + i below `rows`, for `channels`
/// channels from `channel` on. What lies between `rows` and the pitch may be overwritten.
void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to);

}  // namespace penstock::graph::PENSTOCK_ISA
