#pragma once

#include "apps/networks/networks.hpp"

namespace penstock::networks {

/// Has five linear layers, with 244,522 parameters.
extern const Network mlp;

}  // namespace penstock::networks
