// A direct tile is a tile of a product whose left factor is read where it lies, without packing.
// The build compiles this header once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// A DepthLoop is a loop over steps of depth that has `count` turns. Each turn moves on by `left`
/// floats in the left factor and by `right` floats in the right one.
struct DepthLoop {
  std::int64_t count, left, right;
};

struct DirectTile {
  int rows;               ///< This is the number of rows, from 1 to `most_rows`.
  int vectors;            ///< This is the number of Vectors in each row, 1 or 2.
  std::int64_t left_row;  ///< This is the distance between rows in the left factor.
  DepthLoop outer, inner, steps;
  /// These numbers say how many rows each turn of the inner loop leaves out: at the end of the tile
  /// or, if the number is below zero, at its beginning. Neither is more than `most_skipped`. The
  /// pointer is null if no row is left out, and may be set only if `left_row` is 1.
  const std::int8_t* skips;
  const float* left;
  const float* right;  ///< The right factor has `panel_width` floats for each step.
  bool accumulate;     ///< If this is true, the products are added to the target.
  const float* bias;   ///< This has a number for each element of a row, or is null.
  bool relu;           ///< If this is true, results below zero are replaced by zero at the end.
  float* target;       ///< The target has `panel_width` floats for each row.
  std::int64_t target_pitch;
};

/// SeenTaps are the taps along one axis through which a place sees a pixel of the source, not of
/// the border.
struct SeenTaps {
  std::int64_t first, count;

  SeenTaps(const WindowAxis& axis, std::int64_t place) : first(0), count(0) {
    const auto shows = [&](std::int64_t tap) {
      const std::int64_t pixel = axis.first + place * axis.step + tap * axis.tap_step;
      return pixel >= 0 && pixel < axis.size;
    };
    while (first < axis.taps && !shows(first)) ++first;
    while (first + count < axis.taps && shows(first + count)) ++count;
  }
};

/// Computes target = left * right. The fields of `tile` say what the sums start with, and whether a
/// bias and a ReLU follow.
void multiply_direct(const DirectTile& tile);

}  // namespace penstock::graph::PENSTOCK_ISA
