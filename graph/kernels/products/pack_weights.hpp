// A convolution's weights in the order in which tiles read them. Compiled once per instruction set.
#pragma once

#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// to[channel][tap][i]: the weights of results `result` + i, below `rows`, and of `channels`
/// channels from `channel` on. What lies beyond `rows` up to the pitch may be overwritten.
void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to);

}  // namespace penstock::graph::PENSTOCK_ISA
