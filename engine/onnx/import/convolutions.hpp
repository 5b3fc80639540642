// A convolution over windows, which operators of ONNX other than Conv need, too.
#pragma once

#include <cstdint>

#include "engine/onnx/import/windows.hpp"

namespace penstock {

/// ConvolutionWeights are what a convolution computes with. `bias` may be empty. With as many
/// groups as channels, each channel has a kernel of its own.
struct ConvolutionWeights {
  Value weight, bias;
  std::int64_t groups = 1;
};

/// Returns the convolution of x [N,C,...], with as much padding before each axis as behind it.
/// @throws Error unsupported for windows over more than 3 axes.
Value convolution(NodeImport& n, const Value& x, const ConvolutionWeights& weights,
                  const Windows& windows, const Dims& padding);

}  // namespace penstock
