// Routes say where gradients go through a max pooling of 2x2 pixels and a ReLU. With routes, the
// gradient of a convolution needs no image of gradients that are mostly zeros: each pooled pixel
// has one gradient, and each lane's winner says which weights or pixels it is multiplied with. The
// build compiles these functions once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/lanes/workspace.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

static_assert(route_floats == 2 * lanes);

inline std::int64_t pooled_pixels(const LaneConvolution& conv) {
  return (conv.out_height / 2) * (conv.out_width / 2);
}

/// Holds the gradients of some lanes, and says which of the four pixels each gradient goes to. A
/// gradient is zero if the ReLU does not let it through.
template <class V>
struct Route {
  V gradient;
  MaskOf<V> right, below;

  [[gnu::always_inline]] explicit Route(const float* route) : gradient(load<V>(route)) {
    const auto winner = load<MaskOf<V>>(route + lanes);
    right = (winner & 1) != 0;
    below = (winner & 2) != 0;
  }
};

/// Writes the routes [pooled pixels,outputs] of `outputs` neighbouring channels of a block. Their
/// planes begin at `winners` and `dy`.
void find_routes(const LaneConvolution& conv, std::int64_t outputs, const std::uint8_t* winners,
                 const float* dy, float* routes);

}  // namespace penstock::graph::PENSTOCK_ISA
