#include "graph/kernels/lanes/convolve_pool.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/routes.hpp"
#include "graph/kernels/lanes/sum_lanes.hpp"
#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_routed = many_registers ? 2 : 1;
constexpr int most_rows = 5;
constexpr int most_columns = 2;

/// One pooled pixel's part: each lane multiplies its gradient with the window of the pixel that
/// won. `x` is the first tap of the first of the four windows.
template <class V, int outputs, int rows, int columns>
[[gnu::always_inline]] inline void add_routed(const float* x, std::int64_t row_floats,
                                              const float* routes,
                                              V (&sums)[outputs][rows][columns]) {
  const auto route = [&](int o) { return Route<V>(routes + o * route_floats); };
  unrolled<columns>([&](auto column) {
    V above[outputs];
    unrolled<rows + 1>([&](auto row) {
      const float* const pixels = x + row * row_floats + column * lanes;
      const V left = load<V>(pixels), right = load<V>(pixels + lanes);
      unrolled<outputs>([&](auto o) {
        const V pixel = route(o).right ? right : left;
        if constexpr (row > 0)
          sums[o][row - 1][column] += (route(o).below ? pixel : above[o]) * route(o).gradient;
        above[o] = pixel;
      });
    });
  });
}

/// Neighbouring taps, for neighbouring outputs and one input, summed over all pooled pixels and
/// added to what is there.
template <class V, int outputs, int rows, int columns>
void weight_tile(const LaneConvolution& conv, const float* x, const float* routes, float* dweight) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  const auto tap = [&](int o, int row, int column) {
    return dweight + (o * window_depth(conv) + row * conv.kernel_width + column) * lanes;
  };
  V sums[outputs][rows][columns];
  unrolled<outputs>([&](auto o) {
    unrolled<rows * columns>([&](auto i) {
      sums[o][i / columns][i % columns] = load<V>(tap(o, i / columns, i % columns));
    });
  });
  for (std::int64_t row = 0; row < conv.out_height / 2; ++row)
    for (std::int64_t column = 0; column < conv.out_width / 2; ++column) {
      add_routed(x + 2 * (row * row_floats + column * lanes), row_floats, routes, sums);
      routes += outputs * route_floats;
    }
  unrolled<outputs>([&](auto o) {
    unrolled<rows * columns>([&](auto i) {
      store(tap(o, i / columns, i % columns), sums[o][i / columns][i % columns]);
    });
  });
}

/// All taps, for neighbouring outputs and one input, whose plane is `x`.
template <int outputs>
void weight_plane(const LaneConvolution& conv, std::int64_t active, const float* x,
                  const float* routes, float* dweight) {
  for_each_tile<most_rows>(conv.kernel_height, [&](std::int64_t row, auto rows) {
    for_each_tile<most_columns>(conv.kernel_width, [&](std::int64_t column, auto columns) {
      for_each_vector(active, [&](auto vector, std::int64_t lane) {
        weight_tile<decltype(vector), outputs, rows, columns>(
            conv, x + (row * padded_width(conv) + column) * lanes + lane, routes + lane,
            dweight + (row * conv.kernel_width + column) * lanes + lane);
      });
    });
  });
}

/// Adds all gradients of `outputs` channels to dbias [outputs,16].
void add_bias(std::int64_t outputs, std::int64_t pixels, const float* routes, float* dbias) {
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t o = 0; o < outputs; ++o, routes += route_floats)
      for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
        float* const sum = dbias + o * lanes + lane;
        store(sum, load(sum) + load(routes + lane));
      }
}

/// The workspace: what each lane contributes to the gradients, routes, and a block with its border.
struct Scratch {
  float *dweight, *dbias, *routes, *padded;

  Scratch(const LaneConvolution& conv, float* workspace)
      : dweight(workspace),
        dbias(dweight + conv.outputs * window_depth(conv) * lanes),
        routes(dbias + conv.outputs * lanes),
        padded(routes + most_routed * pooled_pixels(conv) * route_floats) {}
};

/// Adds what a block contributes. `x` has its border.
void weight_block(const LaneConvolution& conv, std::int64_t active, const float* x,
                  const std::uint8_t* winners, const float* dy, const Scratch& scratch) {
  const std::int64_t pixels = pooled_pixels(conv);
  const std::int64_t cells = conv.kernel_height * conv.kernel_width;
  const std::int64_t plane = padded_height(conv) * padded_width(conv) * lanes;
  for_each_tile<most_routed>(conv.outputs, [&](std::int64_t o, auto outputs) {
    find_routes(conv, outputs, winners + o * pixels * lanes, dy + o * pixels * lanes,
                scratch.routes);
    add_bias(outputs, pixels, scratch.routes, scratch.dbias + o * lanes);
    for (std::int64_t c = 0; c < conv.inputs; ++c)
      weight_plane<outputs>(conv, active, x + c * plane, scratch.routes,
                            scratch.dweight + (o * conv.inputs + c) * cells * lanes);
  });
}

}  // namespace

void convolve_pool_weight_gradient(const LaneConvolution& conv, const float* x,
                                   const std::uint8_t* winners, const float* dy, float* dweight,
                                   float* dbias, float* workspace) {
  const Scratch scratch(conv, workspace);
  const std::int64_t weights = conv.outputs * window_depth(conv);
  const std::int64_t pooled = conv.outputs * pooled_pixels(conv) * lanes;
  const auto sums = static_cast<std::size_t>((weights + conv.outputs) * lanes);
  __builtin_memset(scratch.dweight, 0, sizeof(float) * sums);
  for (std::int64_t block = 0; block * lanes < conv.samples; ++block) {
    weight_block(conv, active_lanes(conv.samples, block), with_padding(conv, x, scratch.padded),
                 winners, dy, scratch);
    x += conv.inputs * conv.height * conv.width * lanes;
    winners += pooled;
    dy += pooled;
  }
  sum_lanes(weights, scratch.dweight, dweight);
  sum_lanes(conv.outputs, scratch.dbias, dbias);
}

}  // namespace penstock::graph::PENSTOCK_ISA
