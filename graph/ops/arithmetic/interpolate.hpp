#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Interpolates x linearly along the attribute `axis` (0 by default; a negative axis counts from
/// the end), so that the axis has `size` elements. Elements stand for intervals of one length, or,
/// if the attribute align_corners (0 by default) is 1, for points, of which the first and the last
/// ones of x and of the result coincide. The attribute scale_factor says how many elements of the
/// result there are for each one of x. Without it, and with align_corners, the sizes say so.
extern const Op interpolate;
/// Computes the gradient of x from dy. `size` is the size of x along `axis`.
extern const Op interpolate_gradient;

}  // namespace penstock::graph
