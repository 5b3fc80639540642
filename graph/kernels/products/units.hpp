// This header says what the units are by which threads share products. They are the same for every
// instruction set. The functions are static, so that sources compiled for different instruction
// sets share none of them.
#pragma once

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// A ProductRange is a range of neighbouring rows and columns of a product.
struct ProductRange {
  std::int64_t first_row, rows;
  std::int64_t first_column, columns;
};

/// Returns whether threads share the rows of a product; otherwise they share panels of its columns.
/// They share the longer side, because each thread packs the factor of the other side for itself.
static constexpr bool shares_rows(std::int64_t rows, std::int64_t columns) {
  return rows > columns;
}
static constexpr std::int64_t product_units(std::int64_t rows, std::int64_t columns) {
  return shares_rows(rows, columns) ? rows : (columns + widest_panel - 1) / widest_panel;
}
static constexpr ProductRange range_of(Part part, std::int64_t rows, std::int64_t columns) {
  if (shares_rows(rows, columns)) {
    const Part units = within(part, rows);
    return {units.begin, units.end - units.begin, 0, columns};
  }
  const Part units = elements_of(part, widest_panel, columns);
  return {0, rows, units.begin, units.end - units.begin};
}

/// Returns the number of units of a convolution. A unit is one plane of the target at the places of
/// one band; the units of a band are neighbours, so that they share its packed pixels. If the
/// source is read directly, a unit is a panel of planes in place of one plane; if the rows of tiles
/// are samples, it is such a panel at all places.
static constexpr std::int64_t convolve_units(const Windows& w) {
  if (convolves_by_samples(w)) return panels_of(w.results);
  return band_count(w) * (convolves_directly(w) ? panels_of(w.results) : w.results);
}

}  // namespace penstock::graph
