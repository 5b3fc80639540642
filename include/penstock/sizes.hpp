// These are the sizes of windows and images that options of a Model's layers have.
#pragma once

#include <cstdint>

#include "penstock/standard.hpp"

namespace penstock {

/// A Size2d has a number for the rows of an image and one for its columns. One number alone stands
/// for both: `3` is `{3, 3}`.
struct Size2d {
  /// Makes a size with `both` rows and as many columns.
  constexpr Size2d(std::int64_t both) : rows(both), columns(both) {}
  /// Makes a size of so many rows and columns.
  constexpr Size2d(std::int64_t row_number, std::int64_t column_number)
      : rows(row_number), columns(column_number) {}

  std::int64_t rows;     ///< This is the number for the rows, or along a column.
  std::int64_t columns;  ///< This is the number for the columns, or along a row.

  /// Returns whether both sizes have the same rows and columns.
  constexpr bool operator==(const Size2d&) const = default;
};

/// A Size3d has a number for the slices of a volume, one for their rows and one for their columns.
/// One number alone stands for all three: `3` is `{3, 3, 3}`.
struct Size3d {
  /// Makes a size of `each` slices with as many rows and columns.
  constexpr Size3d(std::int64_t each) : depth(each), rows(each), columns(each) {}
  /// Makes a size of so many slices, rows and columns.
  constexpr Size3d(std::int64_t slice_number, std::int64_t row_number, std::int64_t column_number)
      : depth(slice_number), rows(row_number), columns(column_number) {}

  std::int64_t depth;    ///< This is the number for the slices, or from slice to slice.
  std::int64_t rows;     ///< This is the number for the rows, or along a column.
  std::int64_t columns;  ///< This is the number for the columns, or along a row.

  /// Returns whether both sizes have the same slices, rows and columns.
  constexpr bool operator==(const Size3d&) const = default;
};

}  // namespace penstock
