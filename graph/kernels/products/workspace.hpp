// Matrix products and convolutions divide their workspace into regions as the structs of this
// header say, in the same way for every instruction set, and their ops ask for workspaces of that
// size. Each number of a struct is the index of the float at which a region begins; `end` is where
// the last region ends.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Returns how many floats the workspace of a product of [rows,depth] by [depth,columns] has.
std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept;

/// Returns how many floats a packed right factor [depth,columns] has, and how many the workspace of
/// a product with it.
std::int64_t packed_factor_floats(std::int64_t columns, std::int64_t depth) noexcept;
std::int64_t packed_product_floats(std::int64_t depth) noexcept;

/// Returns how many floats the workspace of a convolution, or of the gradient of its input, has.
/// weight_gradient_floats() returns the same for the gradient of the weights, whose places are cut
/// into bands in another way.
std::int64_t convolve_floats(const Windows& w) noexcept;
std::int64_t weight_gradient_floats(const Windows& w) noexcept;

/// This is the workspace of convolutions, and of gradients of weights, that read their source
/// directly. A convolution has the packed weights of some planes of the target in `weights`, and
/// the sums of a band in `places`; if its weights are packed already, there is no such region
/// `weights`, here and in SamplesWorkspace. A gradient of weights has the sums for some planes of
/// the target in `weights`, and the packed gradients of a band in `places`.
struct DirectWorkspace {
  std::int64_t weights, places, end;
};
DirectWorkspace direct_workspace(const Windows& w) noexcept;

/// This is the workspace of convolutions whose tiles have samples as rows. It has regions for the
/// packed weights of a panel, for the transposed source, and for the sums of a panel.
struct SamplesWorkspace {
  std::int64_t weights, transposed, sums, end;
};
SamplesWorkspace samples_workspace(const Windows& w) noexcept;

/// This is the workspace of all other convolutions. It has regions for a panel of the pixels that
/// places see, for the packed weights of some planes of the target, and for the Image of a band.
struct ConvolveWorkspace {
  std::int64_t panel, weights, padded, end;
};
ConvolveWorkspace convolve_workspace(const Windows& w) noexcept;

/// This is the workspace of all other gradients of weights. It has regions for the packed gradients
/// of a band; for the sums, unless the kernel has one tap, in which case the result itself holds
/// the sums; and for the pixels that the places of a band see.
struct WeightGradientWorkspace {
  std::int64_t gradients, sums, padded, end;
};
WeightGradientWorkspace weight_gradient_workspace(const Windows& w) noexcept;

}  // namespace penstock::graph
