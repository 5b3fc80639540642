#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/routes.hpp"
#include "graph/kernels/lanes/sums.hpp"
#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_routed = many_registers ? 2 : 1;
static_assert(most_routed <= most_routed_outputs);
constexpr int most_rows = 5;
constexpr int most_columns = 2;

/// Adds to `sums` the contribution of one pooled pixel: each lane multiplies its gradient by the
/// pixels of `x` in the window of its winner. `x` points to the first pixel of the window of the
/// first of the four pixels that may have won.
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

/// Adds to `dweight` the contribution of all pooled pixels of a block of samples, for rows *
/// columns neighbouring elements of the kernel, `outputs` neighbouring output channels and one
/// input channel.
template <class V, int outputs, int rows, int columns>
[[gnu::noinline]] void weight_tile(const LaneConvolution& conv, const float* x, const float* routes,
                                   float* dweight) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  const auto tap = [&](int o, int row, int column) {
    return dweight + ((o * conv.kernel_height + row) * conv.kernel_width + column) * lanes;
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

/// Adds to `dweight` the contribution of a block of samples, for the whole kernel, `outputs`
/// neighbouring output channels and one input channel, whose plane is `x`.
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

/// Returns the sum of the gradients of output channel `o` of the `outputs` channels that have
/// `routes`.
float sum_gradients(std::int64_t routes_per_channel, std::int64_t outputs, std::int64_t o,
                    const float* routes) {
  float by_lane[lanes], sum;
  for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
    Vector lane_sum{};
    for (std::int64_t i = 0; i < routes_per_channel; ++i)
      lane_sum += load(routes + (i * outputs + o) * route_floats + lane);
    store(by_lane + lane, lane_sum);
  }
  sum_lanes(1, by_lane, &sum);
  return sum;
}

/// A WeightGradient holds the operands of convolve_pool_weight_gradient() and the regions of its
/// workspace.
struct WeightGradient {
  const LaneConvolution& conv;
  const float* x;
  const std::uint8_t* winners;
  const float* dy;
  float *dweight, *dbias;
  float *sums, *routes, *padded;

  std::int64_t cells() const { return conv.kernel_height * conv.kernel_width; }
  std::int64_t blocks() const { return blocks_of(conv.samples); }
  std::int64_t plane() const { return padded_height(conv) * padded_width(conv) * lanes; }

  void use(float* workspace) {
    const PoolWeightGradientWorkspace regions = pool_weight_gradient_workspace(conv);
    sums = workspace + regions.sums;
    routes = workspace + regions.routes;
    padded = workspace + regions.padded;
    if (!has_padding(conv)) return;
    for (std::int64_t block = 0; block < blocks(); ++block)
      with_padding(conv, x + block * conv.inputs * conv.height * conv.width * lanes,
                   padded + block * conv.inputs * plane());
    x = padded;
  }

  /// Finds the routes [block,pooled pixel,outputs] of the `outputs` output channels from `o` on.
  void find_all_routes(std::int64_t o, std::int64_t outputs) const {
    const std::int64_t pixels = pooled_pixels(conv);
    for (std::int64_t block = 0; block < blocks(); ++block) {
      const std::int64_t first = (block * conv.outputs + o) * pixels * lanes;
      find_routes(conv, outputs, winners + first, dy + first,
                  routes + block * pixels * outputs * route_floats);
    }
  }

  /// Computes the gradients of the weights that connect the `outputs` output channels from `o` on
  /// with input channel `c`.
  template <int outputs>
  void run_channel(std::int64_t o, std::int64_t c) const {
    const auto bytes = sizeof(float) * static_cast<std::size_t>(outputs * cells() * lanes);
    __builtin_memset(sums, 0, bytes);
    for (std::int64_t block = 0; block < blocks(); ++block)
      weight_plane<outputs>(conv, active_lanes(conv.samples, block),
                            x + (block * conv.inputs + c) * plane(),
                            routes + block * pooled_pixels(conv) * outputs * route_floats, sums);
    for (std::int64_t i = 0; i < outputs; ++i)
      sum_lanes(cells(), sums + i * cells() * lanes,
                dweight + ((o + i) * conv.inputs + c) * cells());
  }

  void run(Part part) const {
    for_each_tile<most_routed>(part.end - part.begin, [&](std::int64_t first, auto outputs) {
      const std::int64_t o = part.begin + first;
      find_all_routes(o, outputs);
      for (std::int64_t i = 0; i < outputs; ++i)
        dbias[o + i] = sum_gradients(blocks() * pooled_pixels(conv), outputs, i, routes);
      for (std::int64_t c = 0; c < conv.inputs; ++c) run_channel<outputs>(o, c);
    });
  }
};

}  // namespace

void convolve_pool_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                                   const std::uint8_t* winners, const float* dy, float* dweight,
                                   float* dbias, float* workspace) {
  WeightGradient gradient{conv, x, winners, dy, dweight, dbias, nullptr, nullptr, nullptr};
  gradient.use(workspace);
  gradient.run(within(part, conv.outputs));
}

}  // namespace penstock::graph::PENSTOCK_ISA
