// These are the innermost loops of every product: tiles of the result whose sums stay in registers.
// The build compiles them once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// The largest tile has this many rows. With two Vectors per row, its sums leave enough registers
/// for the Vectors of both factors.
inline constexpr int most_rows = many_registers ? 14 : 6;
inline constexpr int panel_width = 2 * vector_size;
/// Is the number of floats from one step of depth to the next in a packed left factor.
inline constexpr int left_pitch = many_registers ? 16 : 8;

/// Says what is added to the sums of a tile at the end.
enum class Bias : std::uint8_t { none, of_rows, of_columns };

struct Strip {
  int rows;             ///< Counts the rows, from 1 to most_rows.
  int vectors;          ///< Counts the Vectors of each row of a tile, 1 or 2.
  std::int64_t panels;  ///< Counts the tiles side by side, which are panel_width apart.
  /// Depth consists of `runs` runs of `steps` steps each. With each step of a run, the right factor
  /// moves on by `right_pitch` floats; run i begins at right[starts[i]].
  std::int64_t runs, steps;
  const float* left;  ///< Has the packed factor [runs*steps, left_pitch].
  const float* right;
  const std::int64_t* starts;
  std::int64_t right_pitch;
  std::int64_t right_panel;  ///< Is the distance from one panel to the next.
  bool accumulate;           ///< Says whether the products are added to the target.
  Bias bias_is;
  const float* bias;
  bool relu;  ///< Replaces results below zero by zero at the end.
  float* target;
  std::int64_t target_pitch;
};

/// Computes target = left * right. The fields of `strip` say what the sums start with, and whether
/// a bias and relu follow.
void multiply_strip(const Strip& strip);

/// Computes the tile at the right border, which is `columns` wide. Nothing is written past these
/// columns, and no numbers of the bias are read past them.
void multiply_ragged(Strip strip, std::int64_t columns);

/// Computes `columns` columns: as many panels as they fill, and with multiply_ragged() the columns
/// that are left. The bias, if there is one, belongs to the columns.
void multiply_columns(Strip strip, std::int64_t columns);

}  // namespace penstock::graph::PENSTOCK_ISA
