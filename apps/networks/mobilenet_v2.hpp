#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has 17 inverted residual blocks (Sandler et al., "MobileNetV2: Inverted Residuals
/// and Linear Bottlenecks", 2018). The layers, the names of their parameters and the distributions
/// of the first weights are those of torchvision. For the images of CIFAR-10, it has 2,236,682
/// parameters.
extern const Network mobilenet_v2;

/// Adds the layers of the network, whose last one is called "classifier.1". `dropout` is the share
/// of the features that is dropped before it in training. Returns the logits.
Value mobilenet_v2_layers(Model& model, Value x, std::int64_t classes, double dropout);

}  // namespace penstock::networks
