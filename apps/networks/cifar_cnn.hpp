#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// Three convolutions with pooling, a linear layer; 33,834 parameters. For images of CIFAR-10.
extern const Network cifar_cnn;

}  // namespace penstock::networks
