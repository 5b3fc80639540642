#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// Two convolutions, the second one group-normalised, and two linear layers; 99,896 parameters.
extern const Network fashion_cnn;

}  // namespace penstock::networks
