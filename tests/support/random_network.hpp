// Random networks are models drawn from a seed, with skip connections, branches, inputs that are
// used in several places, and layers that share a parameter. A seed gives the same network on every
// machine.
#pragma once

#include <cstdint>

#include "tests/support/model_builder.hpp"

namespace penstock::testing {

/// Draws a network with blocks "B0" to "B3" of several layers each, inputs "x" [N,6] and "y" [N,6],
/// an output "out" [N,6], and a scalar loss in the last block. The network is smooth except for
/// relu.
ModelBuilder random_network(std::uint64_t seed);

}  // namespace penstock::testing
