// Products divide their workspace into regions as these structs say, in the same way for every
// instruction set, and their ops ask for as many floats. Each number of a struct is where a region
// begins, in floats; `end` is where the last region ends.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Returns the floats of a product of [rows,depth] by [depth,columns].
std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept;

/// Returns the floats of a convolution or its input gradient; weight_gradient_floats() returns
/// those of the weights' gradient, which has other bands.
std::int64_t convolve_floats(const Windows& w) noexcept;
std::int64_t weight_gradient_floats(const Windows& w) noexcept;

/// Is for convolutions and their weights' gradients that read images where these lie. It has the
/// weights of a group of results, or the sums of their gradients; and the sums of a band of places,
/// or their gradients.
struct DirectWorkspace {
  std::int64_t weights, places, end;
};
DirectWorkspace direct_workspace(const Windows& w) noexcept;

/// Is for other convolutions. It has a panel of what windows see, the weights of some results, and
/// a band of the source with the zeros around it.
struct ConvolveWorkspace {
  std::int64_t panel, weights, padded, end;
};
ConvolveWorkspace convolve_workspace(const Windows& w) noexcept;

/// Is for other gradients of weights. It has the gradients of a band of places; the sums, unless
/// they lie in the result in their order; and a band of the source with the zeros around it.
struct WeightGradientWorkspace {
  std::int64_t gradients, sums, padded, end;
};
WeightGradientWorkspace weight_gradient_workspace(const Windows& w) noexcept;

}  // namespace penstock::graph
