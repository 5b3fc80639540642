// A direct tile is a tile of a product whose left factor is read where it lies, without packing.
// The build compiles this header once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/pack.hpp"
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
  const float* right;      ///< The right factor has `panel_width` floats for each step.
  bool accumulate;         ///< If this is true, the products are added to the target.
  const float* bias;       ///< This has a number for each element of a row, or is null.
  Epilogue epilogue = {};  ///< Its planes are the elements of a row.
  float* target;           ///< The target has `panel_width` floats for each row.
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

/// A PanelEnd has what follows the sums of the neighbouring planes of the target that make one
/// panel, in the form that a DirectTile takes: with a number for each element of a row.
class PanelEnd {
 public:
  /// `bias` has a number for each plane of the target, or is null. The panel has `results` planes
  /// from plane `result` on.
  PanelEnd(const Windows& w, const float* bias, std::int64_t result, std::int64_t results)
      : epilogue_(before_addend(w.epilogue)) {
    const auto copy = [&](const float* numbers, float* to) {
      copy_floats(results, numbers + result, to);
      return to;
    };
    if (bias) bias_ = copy(bias, biases_);
    if (!epilogue_.mean) return;
    epilogue_.mean = copy(epilogue_.mean, means_);
    epilogue_.factor = copy(epilogue_.factor, factors_);
    epilogue_.shift = copy(epilogue_.shift, shifts_);
  }
  PanelEnd(const PanelEnd&) = delete;
  PanelEnd& operator=(const PanelEnd&) = delete;

  /// Makes the end of `tile`, which has the last products of its sums, that of the panel.
  void give_to(DirectTile& tile) const {
    tile.bias = bias_;
    tile.epilogue = epilogue_;
  }

 private:
  Epilogue epilogue_;
  const float* bias_ = nullptr;
  float biases_[panel_width] = {}, means_[panel_width] = {};
  float factors_[panel_width] = {}, shifts_[panel_width] = {};
};

/// Computes target = left * right. The fields of `tile` say what the sums start with, and what is
/// done with them at the end.
void multiply_direct(const DirectTile& tile);

}  // namespace penstock::graph::PENSTOCK_ISA
