// A route has the gradients of one pooled pixel, after a max pooling of 2x2 pixels and a ReLU, and
// for each lane the winner to which its gradient goes. With routes, the gradients of a convolution
// are computed without an image of the gradients of all pixels, most of which are zero: each lane's
// winner says by which weights or pixels the gradient is multiplied. The build compiles these
// functions once per instruction set.
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

/// A Route is a route in memory, read for as many lanes as V has elements. The winner of a lane is
/// in the right column of its 2x2 pixels where `right` is not zero, and in the lower row where
/// `below` is not zero. A gradient is zero where the ReLU does not let it through.
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

/// Writes `routes` [pooled pixels,outputs] of `outputs` neighbouring channels of one block of
/// samples. The planes of these channels begin at `winners` and `dy`.
void find_routes(const LaneConvolution& conv, std::int64_t outputs, const std::uint8_t* winners,
                 const float* dy, float* routes);

}  // namespace penstock::graph::PENSTOCK_ISA
