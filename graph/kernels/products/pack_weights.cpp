#include "graph/kernels/products/pack_weights.hpp"

#include "graph/kernels/products/blocks.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to) {
  const std::int64_t taps = w.rows.taps * w.columns.taps;
  // An input gradient has no taps for the pixels that a stride leaves out.
  if (taps == 0) return;
  weight += result * w.weight_result + channel * w.weight_channel;
  const bool all_taps =
      w.weight_row == w.columns.taps && w.rows.weight_step == 1 && w.columns.weight_step == 1;
  // Whole vectors are faster, though fewer rows may be needed.
  if (all_taps && w.weight_result == 1)
    return pack_rows(at_most(w.results - result, to.pitch), channels, weight, w.weight_channel, to);
  if (all_taps && w.weight_channel == taps)
    return pack_columns(rows, channels * taps, weight, w.weight_result, to);
  std::int64_t c = 0;
  // Behind every channel but the last, a whole vector can be read from any weight on.
  if (all_taps && taps <= vector_size && w.weight_channel >= vector_size)
    for (; c < channels && channel + c + 1 < w.channels; ++c, to.data += taps * to.pitch)
      pack_short_columns(rows, taps, weight + c * w.weight_channel, w.weight_result, to);
  for (; c < channels; ++c)
    for (std::int64_t y = 0; y < w.rows.taps; ++y)
      for (std::int64_t x = 0; x < w.columns.taps; ++x, to.data += to.pitch) {
        const float* const from = weight + c * w.weight_channel +
                                  (w.rows.weight_first + y * w.rows.weight_step) * w.weight_row +
                                  w.columns.weight_first + x * w.columns.weight_step;
        for (std::int64_t row = 0; row < rows; ++row) to.data[row] = from[row * w.weight_result];
      }
}

}  // namespace penstock::graph::PENSTOCK_ISA
