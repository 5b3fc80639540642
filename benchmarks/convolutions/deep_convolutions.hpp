// These are convolutions of torchvision's networks, as the networks of apps/networks have them.
#pragma once

#include <vector>

#include "benchmarks/ops/convolution.hpp"

namespace penstock::benchmarks {

/// A DeepConvolution is a convolution of the network called `network`. The number of images is left
/// open.
struct DeepConvolution {
  const char* network;
  Convolution convolution;
};

/// Returns convolutions that take much of the time of resnet18 and resnet50 on images of 32x32
/// pixels, and of mobilenet-v2 on images of 96x96 pixels.
std::vector<DeepConvolution> deep_convolutions();

}  // namespace penstock::benchmarks
