// These are residual networks (He et al., "Deep Residual Learning for Image Recognition", 2015) as
// torchvision has them: the layers, the names of their parameters and the distributions of the
// first weights are the same.
#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has 8 residual blocks of two convolutions. For the images of CIFAR-10, it has
/// 11,181,642 parameters.
extern const Network resnet18;
/// The network has 16 residual blocks of three convolutions. For the images of CIFAR-10, it has
/// 23,528,522 parameters.
extern const Network resnet50;

}  // namespace penstock::networks
