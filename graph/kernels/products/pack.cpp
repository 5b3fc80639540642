#include "graph/kernels/products/pack.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/tile.hpp"
#include "graph/kernels/vectors/square.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A row is prefetched this many rows before it is copied. Rows are often in different pages of
/// memory, so that the processor does not foresee them.
constexpr std::int64_t rows_ahead = 16;

/// Copies `steps` rows of `vectors` Vectors.
template <int vectors>
void copy_rows(std::int64_t steps, const float* from, std::int64_t pitch, Packed to) {
  for (std::int64_t step = 0; step < steps; ++step, from += pitch, to.data += to.pitch)
    unrolled<vectors>([&](auto v) {
      __builtin_prefetch(from + rows_ahead * pitch + v * vector_size);
      store(to.data + v * vector_size, load(from + v * vector_size));
    });
}

void transpose_band(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                    Packed to) {
  std::int64_t step = 0;
  for (; step + vector_size <= steps; step += vector_size)
    transpose_square(count, from + step, pitch, {to.data + step * to.pitch, to.pitch});
  for (; step < steps; ++step)
    for (std::int64_t i = 0; i < at_most(count, vector_size); ++i)
      to.data[step * to.pitch + i] = from[i * pitch + step];
}

/// Does what unpack_columns() does for at most `vector_size` columns. Steps are transposed in
/// squares of `vector_size` steps; the last square overlaps the one before it if fewer steps are
/// left.
void unpack_band(std::int64_t count, std::int64_t steps, const float* from, std::int64_t from_pitch,
                 float* to, std::int64_t pitch) {
  if (steps < vector_size) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t step = 0; step < steps; ++step)
        to[i * pitch + step] = from[step * from_pitch + i];
    return;
  }
  for (std::int64_t step = 0; step < steps; step += vector_size) {
    const std::int64_t first = at_most(step, steps - vector_size);
    Vector rows[vector_size];
    load_transposed(vector_size, from + first * from_pitch, from_pitch, rows);
    if (count == vector_size)
      unrolled<vector_size>([&](auto i) { store(to + i * pitch + first, rows[i]); });
    else
      unrolled<vector_size>([&](auto i) {
        if (i < count) store(to + i * pitch + first, rows[i]);
      });
  }
}

}  // namespace

void transpose_square(std::int64_t count, const float* from, std::int64_t pitch, Packed to) {
  Vector rows[vector_size];
  load_transposed(count, from, pitch, rows);
  unrolled<vector_size>([&](auto i) { store(to.data + i * to.pitch, rows[i]); });
}

void pack_short_columns(std::int64_t count, std::int64_t steps, const float* from,
                        std::int64_t pitch, Packed to) {
  for (std::int64_t i = 0; i < count; i += vector_size) {
    Vector rows[vector_size];
    load_transposed(count - i, from + i * pitch, pitch, rows);
    unrolled<vector_size>([&](auto step) {
      if (step < steps) store(to.data + step * to.pitch + i, rows[step]);
    });
  }
}

void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to) {
  if (count == 2 * vector_size) return copy_rows<2>(steps, from, pitch, to);
  if (count == vector_size) return copy_rows<1>(steps, from, pitch, to);
  for (std::int64_t step = 0; step < steps; ++step, from += pitch, to.data += to.pitch)
    copy_floats(count, from, to.data);
}

void pack_columns(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                  Packed to) {
  for (std::int64_t i = 0; i < count; i += vector_size)
    transpose_band(count - i, steps, from + i * pitch, pitch, {to.data + i, to.pitch});
}

void unpack_columns(std::int64_t count, std::int64_t steps, const float* from,
                    std::int64_t from_pitch, float* to, std::int64_t pitch) {
  for (std::int64_t i = 0; i < count; i += vector_size)
    unpack_band(at_most(count - i, vector_size), steps, from + i, from_pitch, to + i * pitch,
                pitch);
}

void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to) {
  const std::int64_t taps = w.rows.taps * w.columns.taps;
  // In a gradient of the input, the pixels that no place of the output sees, because of a stride,
  // have no taps.
  if (taps == 0) return;
  weight += result * w.weight_result + channel * w.weight_channel;
  // The taps lie side by side, although the first and the last rows of the kernel may be left out.
  const bool side_by_side =
      w.weight_row == w.columns.taps && w.rows.weight_step == 1 && w.columns.weight_step == 1;
  const float* const first_row = weight + w.rows.weight_first * w.weight_row;
  // Whole Vectors are copied faster, even if fewer rows are needed.
  if (side_by_side && w.weight_result == 1)
    return pack_rows(at_most(w.results - result, to.pitch), channels, weight, w.weight_channel, to);
  if (side_by_side && w.weight_channel == taps)
    return pack_columns(rows, channels * taps, weight, w.weight_result, to);
  std::int64_t c = 0;
  // In every channel but the last, a whole Vector can be read from every weight on without reading
  // past the weights.
  if (side_by_side && taps <= vector_size && w.weight_channel >= vector_size)
    for (; c < channels && channel + c + 1 < w.channels; ++c, to.data += taps * to.pitch)
      pack_short_columns(rows, taps, first_row + c * w.weight_channel, w.weight_result, to);
  for (; c < channels; ++c)
    for (std::int64_t y = 0; y < w.rows.taps; ++y)
      for (std::int64_t x = 0; x < w.columns.taps; ++x, to.data += to.pitch) {
        const float* const from = weight + c * w.weight_channel +
                                  (w.rows.weight_first + y * w.rows.weight_step) * w.weight_row +
                                  w.columns.weight_first + x * w.columns.weight_step;
        for (std::int64_t row = 0; row < rows; ++row) to.data[row] = from[row * w.weight_result];
      }
}

void pack_panels(const Windows& w, Part part, const float* weight, float* packed) {
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps;
  const Part units = within(part, panels_of(w.results));
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const std::int64_t first = unit * widest_panel, end = first + widest_panel;
    for (std::int64_t result = first; result < end; result += panel_width) {
      const std::int64_t results = at_most(w.results - result, panel_width);
      float* const panel = packed + result * depth;
      if (results > 0)
        pack_weights(w, result, results, 0, w.channels, weight, {panel, panel_width});
      // No sum needs the floats behind the weights, but they are the same at every call.
      for (std::int64_t step = 0; step < depth; ++step)
        for (std::int64_t i = results > 0 ? results : 0; i < panel_width; ++i)
          panel[step * panel_width + i] = 0;
    }
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
