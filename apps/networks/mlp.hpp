#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// Five linear layers; 244,522 parameters.
extern const Network mlp;

}  // namespace penstock::networks
