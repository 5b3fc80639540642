// Pool2dGeometry: the sizes of a pooling, over all planes of [N,C,H,W] alike.
#pragma once

#include <cstdint>

#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {

struct Pool2dGeometry {
  std::int64_t planes;  ///< N*C
  std::int64_t h, w, oh, ow;
  Window2d window;

  Pool2dGeometry(const Attributes& attributes, const Shape& x, const Shape& y)
      : planes(x[0] * x[1]),
        h(x[2]),
        w(x[3]),
        oh(y[2]),
        ow(y[3]),
        window(pool_window(attributes)) {}

  Range rows(std::int64_t kh) const noexcept { return inside(window, 0, kh, h, oh); }
  Range columns(std::int64_t kw) const noexcept { return inside(window, 1, kw, w, ow); }
  /// Where in a plane window position (kh,kw) of output (out_row,out_column) lies.
  std::int64_t offset(std::int64_t kh, std::int64_t kw, std::int64_t out_row,
                      std::int64_t out_column) const noexcept {
    return window.position(0, out_row, kh) * w + window.position(1, out_column, kw);
  }
};

}  // namespace penstock::graph
