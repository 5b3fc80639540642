// Random networks: a model drawn from a seed, with skip connections, branches, inputs used in
// several places and layers that share a parameter. The same on every machine.
#pragma once

#include <cstdint>

#include "tests/support/model_builder.hpp"

namespace penstock::testing {

/// Blocks "B0" to "B3" of several layers each; inputs "x" [N,6] and "y" [N,6]; output "out" [N,6];
/// a scalar loss in the last block. Smooth except for relu.
ModelBuilder random_network(std::uint64_t seed);

}  // namespace penstock::testing
