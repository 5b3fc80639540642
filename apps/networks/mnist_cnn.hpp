#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// Two convolutions with pooling, two linear layers; 90,026 parameters.
extern const Network mnist_cnn;

}  // namespace penstock::networks
