// These are the innermost loops of matrix products whose left factor is packed: they compute tiles
// of the result, whose sums stay in registers. The build compiles them once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/epilogue.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// A tile has at most this many rows. With two Vectors per row, its sums leave enough registers for
/// the Vectors of both factors.
inline constexpr int most_rows = many_registers ? 14 : 6;
inline constexpr int panel_width = 2 * vector_size;
/// This is the number of floats from one step of depth to the next in a packed left factor.
inline constexpr int left_pitch = many_registers ? 16 : 8;

/// A Bias says what is added to the sums of a tile at the end: nothing, a number for each row, or a
/// number for each column.
enum class Bias : std::uint8_t { none, of_rows, of_columns };

struct Strip {
  int rows;     ///< This is the number of rows, from 1 to `most_rows`.
  int vectors;  ///< This is the number of Vectors in each row of a tile, 1 or 2.
  /// This is the number of tiles side by side. Each begins `panel_width` columns after the one
  /// before it.
  std::int64_t panels;
  /// The depth is made of `runs` runs of `steps` steps each. Run i begins at right[starts[i]], and
  /// each of its steps moves on by `right_pitch` floats in the right factor.
  std::int64_t runs, steps;
  const float* left;  ///< This is the packed left factor [runs*steps,left_pitch].
  const float* right;
  const std::int64_t* starts;
  std::int64_t right_pitch;
  std::int64_t right_panel;  ///< This is the distance from one panel to the next in `right`.
  bool accumulate;           ///< If this is true, the products are added to the target.
  Bias bias_is;
  const float* bias;
  Epilogue epilogue = {};  ///< Its planes are the rows.
  float* target;
  std::int64_t target_pitch;
};

/// Computes target = left * right. The fields of `strip` say what the sums start with, and what
/// is done with them at the end.
void multiply_strip(const Strip& strip);

/// Computes a last tile that is narrower than a panel: it has `columns` columns. The function
/// neither writes to the target nor reads from the bias past these columns.
void multiply_ragged(Strip strip, std::int64_t columns);

/// Computes `columns` columns: as many whole panels as they fill, and the columns that are left by
/// multiply_ragged(). The bias, if there is one, has a number for each column.
void multiply_columns(Strip strip, std::int64_t columns);

}  // namespace penstock::graph::PENSTOCK_ISA
