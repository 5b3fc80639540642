#include "graph/kernels/products/convolve.hpp"

#include <type_traits>

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/image.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/kernels/vectors/finish.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr std::int64_t no_start = 0;

/// A Run is a run of neighbouring places of one row.
struct Run {
  std::int64_t column;  ///< This is the column of the panel at which the run begins.
  std::int64_t length;
  /// These are offsets of the run's first place: in the Image, and in a plane of the target.
  std::int64_t source, target;
};

/// Calls `work(run)` for each run among the `count` places of the band from `place` on.
template <class Work>
[[gnu::always_inline]] inline void for_each_run(const Windows& w, const Band& band,
                                                const Image& image, std::int64_t place,
                                                std::int64_t count, Work work) {
  const std::int64_t width = w.columns.places;
  for (std::int64_t column = 0; column < count;) {
    const std::int64_t x = (place + column) % width, row = (place + column) / width;
    const std::int64_t y = row % band.rows, sample = row / band.rows;
    const std::int64_t length = at_most(width - x, count - column);
    const std::int64_t target_y = w.rows.target_first + (band.first_row + y) * w.rows.target_step;
    work(Run{column, length, sample * image.sample_pitch + y * w.rows.step * image.row_pitch + x,
             (band.first_sample + sample) * w.target_sample + target_y * w.target_row +
                 w.columns.target_first + x * w.columns.target_step});
    column += length;
  }
}

/// Copies the pixels that `places` neighbouring places see into `panel`
/// [channels*taps,panel_width].
template <int places>
void copy_cells(const Windows& w, const Image& image, std::int64_t channels, std::int64_t source,
                float* panel) {
  const std::int64_t taps = w.rows.taps * w.columns.taps;
  for (std::int64_t y = 0; y < w.rows.taps; ++y)
    for (std::int64_t x = 0; x < w.columns.taps; ++x, panel += panel_width) {
      const float* from = image.data + source + image.tap(w, y, x);
      float* to = panel;
      for (std::int64_t c = 0; c < channels; ++c) {
        __builtin_memcpy(to, from, sizeof(float) * places);
        from += image.plane_pitch;
        to += taps * panel_width;
      }
    }
}

/// Copies the pixels that the places of `run` see. A copy that is a bit longer than the run is
/// faster than several short ones: the floats behind the run are overwritten by the next run, or
/// belong to no place.
template <int places>
void copy_run(const Windows& w, const Image& image, std::int64_t channels, Run run, float* panel) {
  while (run.length >= places || (2 * run.length > places && run.column + places <= panel_width)) {
    copy_cells<places>(w, image, channels, run.source, panel + run.column);
    run.column += places;
    run.source += places;
    run.length -= places;
    if (run.length <= 0) return;
  }
  if constexpr (places > 1) copy_run<places / 2>(w, image, channels, run, panel);
}

/// Copies the pixels that the places of a panel see, step by step of depth, as one stream of
/// stores. Groups of `group` places lie side by side in the Image; `sources` has the offset of each
/// group. If a group is a whole panel, the pixels of the next panel are prefetched at the same
/// time.
template <int group>
void copy_groups(const Windows& w, const Image& image, std::int64_t channels,
                 const std::int64_t* sources, float* panel) {
  const std::int64_t row_step = w.rows.tap_step * image.row_pitch, step = w.columns.tap_step;
  const float* plane = image.data + image.tap(w, 0, 0);
  for (std::int64_t c = 0; c < channels; ++c, plane += image.plane_pitch)
    for (std::int64_t y = 0; y < w.rows.taps; ++y)
      for (std::int64_t x = 0; x < w.columns.taps; ++x, panel += panel_width) {
        const float* const from = plane + y * row_step + x * step;
        unrolled<panel_width / group>([&](auto i) {
          if constexpr (group == panel_width) __builtin_prefetch(from + sources[i] + panel_width);
          __builtin_memcpy(panel + i * group, from + sources[i], sizeof(float) * group);
        });
      }
}

/// Copies the pixels that the places of a panel see into `panel` and returns true, if these places
/// lie side by side in groups of `group` places. Otherwise copies nothing and returns false.
template <int group>
bool copied_in_groups(const Windows& w, const Band& band, const Image& image, std::int64_t channels,
                      std::int64_t place, float* panel) {
  const bool joined = w.rows.step == 1 && image.row_pitch == w.columns.places;
  const std::int64_t width = joined ? band.rows * w.columns.places : w.columns.places;
  if (width % group != 0) return false;
  std::int64_t sources[panel_width / group];
  for (std::int64_t i = 0; i < panel_width / group; ++i)
    for_each_run(w, band, image, place + i * group, 1,
                 [&](const Run& run) { sources[i] = run.source; });
  copy_groups<group>(w, image, channels, sources, panel);
  return true;
}

void pack_panel(const Windows& w, const Band& band, const Image& image, std::int64_t channels,
                std::int64_t place, float* panel) {
  const std::int64_t count = at_most(places_of(w, band) - place, panel_width);
  const auto in_groups = [&](auto group) {
    return copied_in_groups<group>(w, band, image, channels, place, panel);
  };
  if (count == panel_width && w.columns.step == 1 &&
      (in_groups(std::integral_constant<int, panel_width>()) ||
       in_groups(std::integral_constant<int, panel_width / 2>()) ||
       in_groups(std::integral_constant<int, panel_width / 4>())))
    return;
  for_each_run(w, band, image, place, count, [&](const Run& run) {
    copy_run < panel_width<16 ? panel_width : 16>(w, image, channels, run, panel);
  });
}

/// A Block is a part of a band that is computed as one matrix product: it computes some planes of
/// the target at all places of the band, and sums over some channels.
struct Block {
  const Windows& w;
  const Band& band;
  Part results;
  Image image;
  std::int64_t channel, channels;
  float* target;

  std::int64_t depth() const { return channels * w.rows.taps * w.columns.taps; }
  std::int64_t left_floats() const { return left_pitch * depth(); }
};

/// Calls `work(result, rows, left)` for each strip of the block. The strip computes `rows` planes
/// of the target from plane `result` on, and `left` points to their packed weights.
template <class Work>
void for_each_strip(const Block& block, float* left, Work work) {
  for_each_chunk(block.results.end - block.results.begin, most_rows,
                 [&](std::int64_t first, std::int64_t rows) {
                   work(block.results.begin + first, rows, left);
                   left += block.left_floats();
                 });
}

/// Returns whether the places of the panel that begins at `place` lie side by side in the target.
bool lies_together(const Block& block, std::int64_t place) {
  const Windows& w = block.w;
  const std::int64_t sample = block.band.rows * w.columns.places;
  return w.rows.target_step == 1 && w.columns.target_step == 1 &&
         place % sample + panel_width <= sample;
}

/// Computes a strip at a panel whose places do not lie side by side in the target. The sums are
/// computed in a buffer, and then copied to the target.
void multiply_scattered(const Block& block, Strip strip, std::int64_t result, std::int64_t place) {
  const Windows& w = block.w;
  float sums[most_rows * panel_width];
  const std::int64_t count = at_most(places_of(w, block.band) - place, panel_width);
  const auto for_each_sum = [&](auto work) {
    for_each_run(w, block.band, block.image, place, count, [&](const Run& run) {
      for (std::int64_t row = 0; row < strip.rows; ++row) {
        float* const to = block.target + (result + row) * w.target_plane + run.target;
        float* const from = sums + row * panel_width + run.column;
        for (std::int64_t i = 0; i < run.length; ++i) work(from[i], to[i * w.columns.target_step]);
      }
    });
  };
  if (strip.accumulate) for_each_sum([](float& sum, float& to) { sum = to; });
  strip.vectors = count > vector_size ? 2 : 1;
  strip.target = sums;
  strip.target_pitch = panel_width;
  multiply_strip(strip);
  for_each_sum([](float& sum, float& to) { to = sum; });
}

/// Adds the addend to the sums of `rows` planes, from plane `result` on, at a panel.
void add_to_strip(const Block& block, std::int64_t result, std::int64_t rows, std::int64_t place) {
  const Windows& w = block.w;
  const std::int64_t count = at_most(places_of(w, block.band) - place, panel_width);
  for_each_run(w, block.band, block.image, place, count, [&](const Run& run) {
    for (std::int64_t row = 0; row < rows; ++row)
      add_addend(w.epilogue, run.length, block.target,
                 block.target + (result + row) * w.target_plane + run.target);
  });
}

/// Computes all strips of a panel one after the other, while a first-level cache holds the panel.
void multiply_panel(const Block& block, const float* bias, std::int64_t place, float* left,
                    const float* panel) {
  const Windows& w = block.w;
  const bool last = block.channel + block.channels == w.channels;
  Strip strip{.rows = 0,
              .vectors = 2,
              .panels = 1,
              .runs = 1,
              .steps = block.depth(),
              .left = nullptr,
              .right = panel,
              .starts = &no_start,
              .right_pitch = panel_width,
              .right_panel = 0,
              .accumulate = block.channel > 0,
              .bias_is = bias && last ? Bias::of_rows : Bias::none,
              .bias = nullptr,
              .target = nullptr,
              .target_pitch = w.target_plane};
  float* target = nullptr;
  if (lies_together(block, place))
    for_each_run(w, block.band, block.image, place, 1,
                 [&](const Run& run) { target = block.target + run.target; });
  for_each_strip(block, left, [&](std::int64_t result, std::int64_t rows, const float* weights) {
    strip.rows = static_cast<int>(rows);
    strip.left = weights;
    if (bias) strip.bias = bias + result;
    if (last) strip.epilogue = from_plane(before_addend(w.epilogue), result);
    if (target) {
      strip.target = target + result * w.target_plane;
      multiply_strip(strip);
    } else {
      multiply_scattered(block, strip, result, place);
    }
    if (last && w.epilogue.addend) add_to_strip(block, result, rows, place);
  });
}

void multiply_block(const Block& block, const float* weight, const float* bias, float* left,
                    float* panel) {
  const Windows& w = block.w;
  for_each_strip(block, left, [&](std::int64_t result, std::int64_t rows, float* to) {
    pack_weights(w, result, rows, block.channel, block.channels, weight, {to, left_pitch});
  });
  for (std::int64_t place = 0; place < places_of(w, block.band); place += panel_width) {
    pack_panel(w, block.band, block.image, block.channels, place, panel);
    multiply_panel(block, bias, place, left, panel);
  }
}

}  // namespace

void convolve(const Windows& w, Part part, const float* source, const float* weight,
              const float* bias, float* target, float* workspace) {
  if (convolves_directly(w))
    return convolve_directly(w, part, source, weight, bias, target, workspace);
  if (convolves_by_samples(w))
    return convolve_by_samples(w, part, source, weight, bias, target, workspace);
  const ConvolveWorkspace regions = convolve_workspace(w);
  float* const panel = workspace + regions.panel;
  float* const left = workspace + regions.weights;
  float* const padded = workspace + regions.padded;
  std::int64_t units = 0;
  for_each_band(w, [&](const Band& band) {
    const Part results = overlap(part, units, w.results);
    units += w.results;
    if (empty(results)) return;
    std::int64_t channel = 0;
    do {
      const std::int64_t channels = at_most(w.channels - channel, w.block_channels);
      const Image image = image_of(w, band, channel, channels, source, padded);
      for_each_chunk(results.end - results.begin, results_block,
                     [&](std::int64_t first, std::int64_t count) {
                       const Part some{results.begin + first, results.begin + first + count};
                       multiply_block({w, band, some, image, channel, channels, target}, weight,
                                      bias, left, panel);
                     });
      channel += channels;
    } while (channel < w.channels);
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
