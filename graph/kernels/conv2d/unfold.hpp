// Between images and columns: what turns a convolution into a matrix product (im2col), and the way
// back that its input gradient needs (col2im).
#pragma once

#include "graph/kernels/conv2d/geometry.hpp"

namespace penstock::graph {

/// Copies what every window sees: columns [group_inputs*kh*kw, samples*OH*OW], zero in the padding.
/// `x` is the first channel of the group in the first of `samples` samples.
void unfold(const Conv2dGeometry& conv, const float* x, std::int64_t samples, float* columns);

/// The transpose of `unfold`: adds every cell of `columns` to the pixel it was copied from.
void fold(const Conv2dGeometry& conv, const float* columns, std::int64_t samples, float* x);

}  // namespace penstock::graph
