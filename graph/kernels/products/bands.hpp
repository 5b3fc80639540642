// How many bands the places of a convolution are cut into. The same for every instruction set;
// static, so that none of them shares a function.
#pragma once

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

static constexpr std::int64_t band_count(const Windows& w) {
  return (w.samples + w.band_samples - 1) / w.band_samples *
         ((w.rows.places + w.band_rows - 1) / w.band_rows);
}

}  // namespace penstock::graph
