#include "graph/kernels/lanes/convolve.hpp"
#include "graph/kernels/lanes/padding.hpp"
#include "graph/kernels/lanes/routes.hpp"
#include "graph/kernels/lanes/window_sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int most_rows = 6;
constexpr int most_columns = 3;

/// Returns how many floats a row of the kernel has with a zero added at both ends.
std::int64_t bordered_row(const LaneConvolution& conv) {
  return conv.kernel_width + 2;
}

/// Returns whether weights are looked up in tables. For that, a table has to hold two rows of the
/// kernel, each with a zero at both ends, and a look-up has to be one instruction.
bool looks_up(const LaneConvolution& conv) {
  return lookup_pays && 2 * bordered_row(conv) <= lanes;
}

/// Writes the tables [C,O,kh+1,16] of some input channels. A pooled pixel contributes to kh+1 rows
/// of pixels of the input, and there is a table for each of them. Row r gets gradients through row
/// r-1 of the kernel if the winner is one of the lower two of the four pixels, and through row r if
/// it is one of the upper two. Its table therefore holds row r-1 and then row r of the kernel, each
/// with a zero at both ends.
void write_tables(const LaneConvolution& conv, Part channels, const float* weight, float* tables) {
  tables += channels.begin * conv.outputs * (conv.kernel_height + 1) * lanes;
  for (std::int64_t c = channels.begin; c < channels.end; ++c)
    for (std::int64_t o = 0; o < conv.outputs; ++o) {
      const float* const kernel =
          weight + (o * conv.inputs + c) * conv.kernel_height * conv.kernel_width;
      for (std::int64_t row = 0; row <= conv.kernel_height; ++row, tables += lanes)
        for (std::int64_t i = 0; i < lanes; ++i) {
          const std::int64_t kh = row - 1 + i / bordered_row(conv);
          const std::int64_t kw = i % bordered_row(conv) - 1;
          const bool inside = i < 2 * bordered_row(conv) && kh >= 0 && kh < conv.kernel_height &&
                              kw >= 0 && kw < conv.kernel_width;
          tables[i] = inside ? kernel[kh * conv.kernel_width + kw] : 0;
        }
    }
}

/// Returns whether `zeros` is zero. `zeros` is a sum of numbers that were each multiplied by zero;
/// it is zero only if all these numbers are finite.
bool met_finite_only(Vector zeros) {
  float sum = 0;
  for (int i = 0; i < vector_size; ++i) sum += zeros[i];
  return sum == 0.0f;
}

bool all_finite(std::int64_t count, const float* numbers) {
  constexpr int vectors = 4;
  Vector zeros[vectors] = {};
  std::int64_t i = 0;
  for (; i + vectors * vector_size <= count; i += vectors * vector_size)
    unrolled<vectors>([&](auto v) { zeros[v] += load(numbers + i + v * vector_size) * 0.0f; });
  for (; i < count; ++i) zeros[0][0] += numbers[i] * 0.0f;
  return met_finite_only((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]));
}

/// Replaces each winner of each route by an index into the tables: that of the weight by which the
/// gradient is multiplied for the leftmost pixel that the pooled pixel contributes to. Returns
/// whether all gradients are finite.
bool index_routes(const LaneConvolution& conv, std::int64_t count, float* routes) {
  Vector zeros{};
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
      float* const at = routes + i * route_floats + lanes + lane;
      const Route<Vector> route(routes + i * route_floats + lane);
      const Mask upper = Mask{} + static_cast<std::int32_t>(bordered_row(conv));
      store(at, (route.below ? Mask{} : upper) + (route.right ? Mask{} : Mask{} + 1));
      zeros += route.gradient * 0.0f;
    }
  return met_finite_only(zeros);
}

/// Adds to rows * columns neighbouring pixels of one input channel the contribution of one pooled
/// pixel of all output channels. Each lane looks up the weights that connect these pixels with its
/// winner.
template <class V, int rows, int columns>
[[gnu::noinline]] void spread_tile(const LaneConvolution& conv, std::int64_t column,
                                   const float* routes, const float* tables, float* dx) {
  const std::int64_t row_floats = padded_width(conv) * lanes;
  const auto pixel = [&](int i) { return dx + i / columns * row_floats + i % columns * lanes; };
  V sums[rows * columns];
  unrolled<rows * columns>([&](auto i) { sums[i] = load<V>(pixel(i)); });
  for (std::int64_t o = 0; o < conv.outputs; ++o) {
    const V gradient = load<V>(routes);
    const auto at = load<MaskOf<V>>(routes + lanes) + static_cast<std::int32_t>(column);
    unrolled<rows * columns>([&](auto i) {
      sums[i] += lookup<V>(tables + i / columns * lanes, at + i % columns) * gradient;
    });
    routes += route_floats;
    tables += (conv.kernel_height + 1) * lanes;
  }
  unrolled<rows * columns>([&](auto i) { store(pixel(i), sums[i]); });
}

/// Adds to one input plane the contribution of one pooled pixel of all output channels. `dx` points
/// to the first pixel that gets a contribution.
void spread_pixel(const LaneConvolution& conv, std::int64_t active, const float* routes,
                  const float* tables, float* dx) {
  for_each_tile<most_rows>(conv.kernel_height + 1, [&](std::int64_t row, auto rows) {
    for_each_tile<most_columns>(conv.kernel_width + 1, [&](std::int64_t column, auto columns) {
      for_each_vector(active, [&](auto vector, std::int64_t lane) {
        spread_tile<decltype(vector), rows, columns>(
            conv, column, routes + lane, tables + row * lanes,
            dx + (row * padded_width(conv) + column) * lanes + lane);
      });
    });
  });
}

/// Computes some channels of `dx` [C,H,W,16], with its border, from `routes` [pooled pixels,O] of
/// one block of samples.
void spread_block(const LaneConvolution& conv, Part channels, std::int64_t active,
                  const float* routes, const float* tables, float* dx) {
  const std::int64_t plane = padded_height(conv) * padded_width(conv) * lanes;
  const std::int64_t count = channels.end - channels.begin;
  dx += channels.begin * plane;
  tables += channels.begin * conv.outputs * (conv.kernel_height + 1) * lanes;
  __builtin_memset(dx, 0, sizeof(float) * static_cast<std::size_t>(count * plane));
  for (std::int64_t c = 0; c < count; ++c, dx += plane) {
    const float* route = routes;
    for (std::int64_t row = 0; row < conv.out_height / 2; ++row)
      for (std::int64_t column = 0; column < conv.out_width / 2; ++column) {
        spread_pixel(conv, active, route, tables,
                     dx + 2 * (row * padded_width(conv) + column) * lanes);
        route += conv.outputs * route_floats;
      }
    tables += conv.outputs * (conv.kernel_height + 1) * lanes;
  }
}

/// Writes to `dy` [O,OH,OW,16] the gradients of all pixels before the pooling, most of which are
/// zero.
void unpool(const LaneConvolution& conv, const float* routes, float* dy) {
  const std::int64_t plane = conv.out_height * conv.out_width * lanes;
  __builtin_memset(dy, 0, sizeof(float) * static_cast<std::size_t>(conv.outputs * plane));
  for (std::int64_t row = 0; row < conv.out_height / 2; ++row)
    for (std::int64_t column = 0; column < conv.out_width / 2; ++column)
      for (std::int64_t o = 0; o < conv.outputs; ++o, routes += route_floats)
        for (std::int64_t lane = 0; lane < lanes; lane += vector_size) {
          const Route<Vector> route(routes + lane);
          const Vector upper = route.below ? Vector{} : route.gradient;
          const Vector lower = route.below ? route.gradient : Vector{};
          float* const pixel = dy + o * plane + 2 * (row * conv.out_width + column) * lanes + lane;
          float* const below = pixel + conv.out_width * lanes;
          store(pixel, route.right ? Vector{} : upper);
          store(pixel + lanes, route.right ? upper : Vector{});
          store(below, route.right ? Vector{} : lower);
          store(below + lanes, route.right ? lower : Vector{});
        }
}

/// Returns the range of input channels that `part` has in at least one block of samples.
Part channels_of(const LaneConvolution& conv, Part part) {
  const std::int64_t blocks = blocks_of(conv.samples);
  const Part units = within(part, blocks * conv.inputs);
  return {units.begin / blocks, (units.end + blocks - 1) / blocks};
}

/// A Tables has what is looked up of the weights, arranged by lane. It is used only if all weights
/// are finite.
class Tables {
 public:
  Tables(const LaneConvolution& conv, Part channels, const float* weight, float* tables)
      : conv_(conv),
        channels_(channels),
        weight_(weight),
        tables_(tables),
        serve_(looks_up(conv) &&
               all_finite(conv.outputs * conv.inputs * conv.kernel_height * conv.kernel_width,
                          weight)) {}

  bool serve() const { return serve_; }

  /// Returns the tables. Writes them first if they were never written, or if another use of their
  /// memory has overwritten them.
  const float* get() {
    if (!written_) write_tables(conv_, channels_, weight_, tables_);
    written_ = true;
    return tables_;
  }

  /// Returns the memory of the tables for another use, which may overwrite them.
  float* lend() {
    written_ = false;
    return tables_;
  }

 private:
  const LaneConvolution& conv_;
  Part channels_;
  const float* weight_;
  float* tables_;
  bool serve_, written_ = false;
};

}  // namespace

// The look-up adds products with the zeros of a table, which leave a sum as it is only if the other
// factor is finite. If a gradient or a weight is infinite or NaN, no weights are looked up: the
// gradients of all pixels are written down and convolved, as under instruction sets that have no
// fast look-up.
void convolve_pool_input_gradient(const LaneConvolution& conv, Part part,
                                  const std::uint8_t* winners, const float* dy, const float* weight,
                                  float* dx, float* workspace) {
  const std::int64_t blocks = blocks_of(conv.samples);
  if (blocks == 0) return;
  const PoolInputGradientWorkspace regions = pool_input_gradient_workspace(conv);
  float* const routes = workspace + regions.routes;
  const std::int64_t pooled = conv.outputs * pooled_pixels(conv);
  Tables tables(conv, channels_of(conv, part), weight, workspace + regions.tables);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Part channels = every(part, blocks, block, conv.inputs);
    if (empty(channels)) continue;
    const std::int64_t active = active_lanes(conv.samples, block);
    float* const to = dx + block * conv.inputs * conv.height * conv.width * lanes;
    float* const target = has_padding(conv) ? workspace + regions.padded : to;
    const auto find = [&] {
      find_routes(conv, conv.outputs, winners + block * pooled * lanes, dy + block * pooled * lanes,
                  routes);
    };
    find();
    if (tables.serve() && index_routes(conv, pooled, routes)) {
      spread_block(conv, channels, active, routes, tables.get(), target);
    } else {
      // The winners were replaced by indices, so that they have to be found again.
      if (tables.serve()) find();
      float* const dy_of_all = tables.lend();
      unpool(conv, routes, dy_of_all);
      convolve_input_gradient_block(conv, channels, active, dy_of_all, weight, target);
    }
    if (has_padding(conv)) without_padding(conv, channels, target, to);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
