// The places of a convolution are cut into bands, in the same way for every instruction set. The
// functions are static, so that sources compiled for different instruction sets share none of them.
#pragma once

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// A Band is a set of places that are computed together: some rows of places of one sample, or all
/// rows of several samples.
struct Band {
  std::int64_t first_sample, samples;
  std::int64_t first_row, rows;
};

static constexpr std::int64_t places_of(const Windows& w, const Band& band) {
  return band.samples * band.rows * w.columns.places;
}

static constexpr std::int64_t band_count(const Windows& w) {
  return (w.samples + w.band_samples - 1) / w.band_samples *
         ((w.rows.places + w.band_rows - 1) / w.band_rows);
}

/// Returns band number `index`, which is from 0 to band_count() - 1. The bands are in the order of
/// samples, and the bands of one sample are in the order of rows.
static constexpr Band band_at(const Windows& w, std::int64_t index) {
  const std::int64_t bands = (w.rows.places + w.band_rows - 1) / w.band_rows;
  const std::int64_t sample = index / bands * w.band_samples, row = index % bands * w.band_rows;
  const std::int64_t samples = w.samples - sample, rows = w.rows.places - row;
  return {sample, samples < w.band_samples ? samples : w.band_samples, row,
          rows < w.band_rows ? rows : w.band_rows};
}

}  // namespace penstock::graph
