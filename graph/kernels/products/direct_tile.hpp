// A direct tile is a tile of a product whose left factor is read where it lies, without packing.
// The build compiles it once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Is a loop over depth with `count` turns. With each turn, the factors move on by `left` and by
/// `right` floats.
struct DepthLoop {
  std::int64_t count, left, right;
};

struct DirectTile {
  int rows;               ///< Counts the rows, from 1 to most_rows.
  int vectors;            ///< Counts the Vectors of each row, 1 or 2.
  std::int64_t left_row;  ///< Is the distance between rows in the left factor.
  DepthLoop outer, inner, steps;
  /// Says how many rows each turn of the inner loop leaves out, at most most_skipped: at the end
  /// or, if the number is below zero, at the beginning. It is null if no row is left out, and may
  /// be set only if left_row is 1.
  const std::int8_t* skips;
  const float* left;
  const float* right;  ///< Has panel_width floats for each step.
  bool accumulate;     ///< Says whether the products are added to the target.
  const float* bias;   ///< Has a number for each element of a row, or is null.
  bool relu;           ///< Replaces results below zero by zero at the end.
  float* target;       ///< Has panel_width floats for each row.
  std::int64_t target_pitch;
};

/// Computes target = left * right. The fields of `tile` say what the sums start with, and whether a
/// bias and relu follow.
void multiply_direct(const DirectTile& tile);

}  // namespace penstock::graph::PENSTOCK_ISA
