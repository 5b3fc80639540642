#include "graph/kernels/lanes/routes.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void find_routes(const LaneConvolution& conv, std::int64_t outputs, const std::uint8_t* winners,
                 const float* dy, float* routes) {
  const std::int64_t pixels = pooled_pixels(conv);
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel, winners += lanes, dy += lanes) {
      float* const route = routes + (pixel * outputs + o) * route_floats;
      for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
        const Mask winner = load_bytes<Vector>(winners + lane);
        store(route + lane, winner < 4 ? load(dy + lane) : Vector{});
        store(route + lanes + lane, winner);
      }
    }
}

}  // namespace penstock::graph::PENSTOCK_ISA
