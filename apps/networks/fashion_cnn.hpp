#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has two convolutions, of which the second is group-normalized, and two linear
/// layers, with 99,896 parameters.
extern const Network fashion_cnn;

}  // namespace penstock::networks
