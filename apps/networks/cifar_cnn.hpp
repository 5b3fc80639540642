#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has three convolutions with pooling and a linear layer, with 33,834 parameters. It
/// is for images of CIFAR-10.
extern const Network cifar_cnn;

}  // namespace penstock::networks
