#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// The network has five linear layers, with 244,522 parameters.
extern const Network mlp;

}  // namespace penstock::networks
