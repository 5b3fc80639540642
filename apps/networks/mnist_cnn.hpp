#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has two convolutions with pooling and two linear layers, with 90,026 parameters.
extern const Network mnist_cnn;

}  // namespace penstock::networks
