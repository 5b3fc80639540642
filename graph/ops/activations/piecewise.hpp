// These activations are made of straight lines or, in the middle of hardswish, of a parabola. They
// work element by element on a tensor of any shape, and their gradients map (x, dy) to dx.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr RealAttribute hardtanh_low{"low", -1}, hardtanh_high{"high", 1};

}  // namespace attribute

/// Computes y = x between `low` and `high`, else the bound that is nearer. The attributes low and
/// high are -1 and 1 by default. In contrast to that of clamp, the gradient is 0 at the bounds.
extern const Op hardtanh;
extern const Op hardtanh_gradient;

/// Computes y = (x + 3)/6 from -3 to 3, 0 below and 1 above.
extern const Op hardsigmoid;
extern const Op hardsigmoid_gradient;

/// Computes y = x·(x + 3)/6 from -3 to 3, 0 below and x above (Howard et al., 2019).
extern const Op hardswish;
extern const Op hardswish_gradient;

/// Computes y = 0 from -bound to bound, and x beyond these numbers. The attribute bound is 0.5 by
/// default, and 0 or more.
extern const Op hardshrink;
extern const Op hardshrink_gradient;

/// Computes y = 0 from -bound to bound, x - bound above and x + bound below. The attribute bound is
/// 0.5 by default, and 0 or more.
extern const Op softshrink;
extern const Op softshrink_gradient;

/// Computes y = x above the attribute threshold, and the attribute value elsewhere. Both attributes
/// are 0 by default.
extern const Op threshold;
extern const Op threshold_gradient;

}  // namespace penstock::graph
