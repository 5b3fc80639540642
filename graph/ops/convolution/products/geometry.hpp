// Conv2dGeometry has the sizes of a convolution and of the matrix products that compute it.
#pragma once

#include <cstdint>

#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {

/// Has the sizes of x [N,C,H,W], weight [O,C/groups,kh,kw] and y [N,O,OH,OW].
struct Conv2dGeometry {
  std::int64_t n, c, h, w;
  std::int64_t o, oh, ow;
  std::int64_t groups;
  Window2d window;

  Conv2dGeometry(const Attributes& attributes, const Shape& x, const Shape& weight, const Shape& y);

  std::int64_t group_inputs() const noexcept { return c / groups; }
  std::int64_t group_outputs() const noexcept { return o / groups; }
  std::int64_t pixels() const noexcept { return oh * ow; }
  /// Returns how many products one output element is the sum of.
  std::int64_t depth() const noexcept { return group_inputs() * window.cells(); }

  Cost cost() const noexcept;
};

}  // namespace penstock::graph
