// Products divide their workspace into regions as the structs of this header say, in the same way
// for every instruction set, and their ops ask for workspaces of that size. Each number of a struct
// is the float at which a region begins; `end` is where the last region ends.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Returns the floats of workspace of a product of [rows,depth] by [depth,columns].
std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept;

/// Returns the floats of workspace of a convolution or its input gradient; weight_gradient_floats()
/// returns those of the gradient of the weights, which has other bands.
std::int64_t convolve_floats(const Windows& w) noexcept;
std::int64_t weight_gradient_floats(const Windows& w) noexcept;

/// Is the workspace of convolutions, and of gradients of weights, that read images where they lie.
/// A convolution has the packed weights of a group of results, and the sums of a band of places. A
/// gradient of weights has the sums of a group of results, and the packed gradients of a band of
/// places.
struct DirectWorkspace {
  std::int64_t weights, places, end;
};
DirectWorkspace direct_workspace(const Windows& w) noexcept;

/// Is the workspace of all other convolutions. It has a panel of the pixels that windows see, the
/// packed weights of some results, and a band of the source with the zeros around it.
struct ConvolveWorkspace {
  std::int64_t panel, weights, padded, end;
};
ConvolveWorkspace convolve_workspace(const Windows& w) noexcept;

/// Is the workspace of all other gradients of weights. It has the packed gradients of a band of
/// places; the sums, unless a kernel of one tap has its sums in the result itself; and a band of
/// the source with the zeros around it.
struct WeightGradientWorkspace {
  std::int64_t gradients, sums, padded, end;
};
WeightGradientWorkspace weight_gradient_workspace(const Windows& w) noexcept;

}  // namespace penstock::graph
