#include "graph/kernels/lanes/convolve_pool.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/routes.hpp"
#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_rows = 5;
constexpr int most_columns = many_registers ? 3 : 2;

/// Weights [O,C,kh,kw+2]: every row between two zeros.
std::int64_t bordered_row(const LaneConvolution& conv) {
  return conv.kernel_width + 2;
}

void add_borders(const LaneConvolution& conv, const float* weight, float* bordered) {
  const std::int64_t rows = conv.outputs * conv.inputs * conv.kernel_height;
  for (std::int64_t row = 0; row < rows; ++row) {
    *bordered++ = 0;
    for (std::int64_t kw = 0; kw < conv.kernel_width; ++kw) *bordered++ = *weight++;
    *bordered++ = 0;
  }
}

/// What one pooled pixel of all outputs sends back through `rows` rows of the kernel to rows + 1
/// rows of neighbouring pixels, added to what is there. Each lane takes the weights that connect
/// them with the pixel that won. `weight` is bordered and begins at the tap left of the first
/// pixel.
template <class V, int rows, int columns>
void spread_tile(const LaneConvolution& conv, const float* routes, const float* weight, float* dx) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  V sums[rows + 1][columns];
  unrolled<(rows + 1) * columns>([&](auto i) {
    sums[i / columns][i % columns] = load<V>(dx + i / columns * row_floats + i % columns * lanes);
  });
  for (std::int64_t o = 0; o < conv.outputs; ++o, routes += route_floats) {
    const Route<V> route(routes);
    unrolled<columns>([&](auto column) {
      V above{};
      unrolled<rows + 1>([&](auto row) {
        V tap{};
        if constexpr (row < rows) {
          const float* const taps = weight + row * bordered_row(conv) + column;
          tap = route.right ? broadcast<V>(taps[0]) : broadcast<V>(taps[1]);
        }
        sums[row][column] += (route.below ? above : tap) * route.gradient;
        above = tap;
      });
    });
    weight += conv.inputs * conv.kernel_height * bordered_row(conv);
  }
  unrolled<(rows + 1) * columns>([&](auto i) {
    store(dx + i / columns * row_floats + i % columns * lanes, sums[i / columns][i % columns]);
  });
}

/// What one pooled pixel sends back to one input plane; `dx` is the first pixel that it reaches.
void spread_pixel(const LaneConvolution& conv, std::int64_t active, const float* routes,
                  const float* weight, float* dx) {
  for_each_tile<most_rows>(conv.kernel_height, [&](std::int64_t row, auto rows) {
    for_each_tile<most_columns>(conv.kernel_width + 1, [&](std::int64_t column, auto columns) {
      for_each_vector(active, [&](auto vector, std::int64_t lane) {
        spread_tile<decltype(vector), rows, columns>(
            conv, routes + lane, weight + row * bordered_row(conv) + column,
            dx + (row * padded_width(conv) + column) * lanes + lane);
      });
    });
  });
}

/// Block of routes [pooled pixels,O] -> dx [C,H,W,16] with its border.
void spread_block(const LaneConvolution& conv, std::int64_t active, const float* routes,
                  const float* weight, float* dx) {
  const std::int64_t plane = padded_height(conv) * padded_width(conv) * lanes;
  __builtin_memset(dx, 0, sizeof(float) * static_cast<std::size_t>(conv.inputs * plane));
  for (std::int64_t row = 0; row < conv.out_height / 2; ++row)
    for (std::int64_t column = 0; column < conv.out_width / 2; ++column) {
      float* const corner = dx + 2 * (row * padded_width(conv) + column) * lanes;
      for (std::int64_t c = 0; c < conv.inputs; ++c)
        spread_pixel(conv, active, routes, weight + c * conv.kernel_height * bordered_row(conv),
                     corner + c * plane);
      routes += conv.outputs * route_floats;
    }
}

/// The workspace: routes of a block, a block with its border, and the bordered weights.
struct Scratch {
  float *routes, *padded, *weight;

  Scratch(const LaneConvolution& conv, float* workspace)
      : routes(workspace),
        padded(routes + pooled_pixels(conv) * conv.outputs * route_floats),
        weight(padded + (has_padding(conv)
                             ? conv.inputs * padded_height(conv) * padded_width(conv) * lanes
                             : 0)) {}
};

}  // namespace

void convolve_pool_input_gradient(const LaneConvolution& conv, const std::uint8_t* winners,
                                  const float* dy, const float* weight, float* dx,
                                  float* workspace) {
  const Scratch scratch(conv, workspace);
  const std::int64_t pooled = conv.outputs * pooled_pixels(conv) * lanes;
  add_borders(conv, weight, scratch.weight);
  for (std::int64_t block = 0; block * lanes < conv.samples; ++block) {
    float* const target = has_padding(conv) ? scratch.padded : dx;
    find_routes(conv, conv.outputs, winners, dy, scratch.routes);
    spread_block(conv, active_lanes(conv.samples, block), scratch.routes, scratch.weight, target);
    if (has_padding(conv)) without_padding(conv, target, dx);
    winners += pooled;
    dy += pooled;
    dx += conv.inputs * conv.height * conv.width * lanes;
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
