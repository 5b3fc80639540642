// Tiles of a product whose left factor is read where it lies. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// A loop over depth: so many times, and how far either factor moves on each time.
struct DepthLoop {
  std::int64_t count, left, right;
};

struct DirectTile {
  int rows;               ///< from 1 to most_rows
  int vectors;            ///< of each row: 1 or 2
  std::int64_t left_row;  ///< from one row to the next in the left factor
  DepthLoop outer, inner, steps;
  /// Rows that a turn of the inner loop leaves out: at the end, or, where below zero, at the
  /// beginning; at most most_skipped. Null: none. Only where left_row is 1.
  const std::int8_t* skips;
  const float* left;
  const float* right;  ///< of each step panel_width floats
  bool accumulate;     ///< what is in the target is part of the sums
  const float* bias;   ///< one per element of a row, or null
  bool relu;           ///< what is below zero at last becomes zero
  float* target;       ///< of each row panel_width floats
  std::int64_t target_pitch;
};

/// target = left * right + what the fields say.
void multiply_direct(const DirectTile& tile);

}  // namespace penstock::graph::PENSTOCK_ISA
