// The innermost loops of every product: tiles of the result whose sums stay in registers. Compiled
// once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// The largest tile: with two Vectors per row, its sums leave registers for one factor of each
/// kind.
inline constexpr int most_rows = many_registers ? 14 : 6;
inline constexpr int panel_width = 2 * vector_size;
/// Floats from one step of depth to the next in a packed left factor.
inline constexpr int left_pitch = many_registers ? 16 : 8;

/// What is added to the sums of a tile at the end.
enum class Bias : std::uint8_t { none, of_rows, of_columns };

struct Strip {
  int rows;             ///< from 1 to most_rows
  int vectors;          ///< of each row of a tile: 1 or 2
  std::int64_t panels;  ///< tiles side by side, panel_width apart
  /// Depth is `runs` runs of `steps` each. In a run the right factor moves on by `right_pitch`;
  /// run i of it begins at right[starts[i]].
  std::int64_t runs, steps;
  const float* left;  ///< packed: [runs*steps, left_pitch]
  const float* right;
  const std::int64_t* starts;
  std::int64_t right_pitch;
  std::int64_t right_panel;  ///< from one panel to the next
  bool accumulate;           ///< what is in the target is part of the sums
  Bias bias_is;
  const float* bias;
  bool relu;  ///< what is below zero at last becomes zero
  float* target;
  std::int64_t target_pitch;
};

/// target = left * right + what the fields say.
void multiply_strip(const Strip& strip);

}  // namespace penstock::graph::PENSTOCK_ISA
