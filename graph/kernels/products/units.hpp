// The units that products can be shared by. The same for every instruction set; static, so that
// none of them shares a function.
#pragma once

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// Neighbouring rows and columns of a product.
struct ProductRange {
  std::int64_t first_row, rows;
  std::int64_t first_column, columns;
};

/// Threads share the longer side, by rows or by panels of columns, for each packs the other side's
/// factor for itself.
static constexpr bool shares_rows(std::int64_t rows, std::int64_t columns) {
  return rows > columns;
}
static constexpr std::int64_t product_units(std::int64_t rows, std::int64_t columns) {
  return shares_rows(rows, columns) ? rows : (columns + widest_panel - 1) / widest_panel;
}
static constexpr ProductRange range_of(Part part, std::int64_t rows, std::int64_t columns) {
  if (shares_rows(rows, columns)) {
    const Part own = within(part, rows);
    return {own.begin, own.end - own.begin, 0, columns};
  }
  const Part own = elements_of(part, widest_panel, columns);
  return {0, rows, own.begin, own.end - own.begin};
}

/// Each band's results: neighbouring ones share what is packed of the source. Where it lies as it
/// is, each band's panels of results.
static constexpr std::int64_t convolve_units(const Windows& w) {
  return band_count(w) * (convolves_directly(w) ? panels_of(w.results) : w.results);
}

}  // namespace penstock::graph
