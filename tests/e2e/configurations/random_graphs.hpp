// Random networks are drawn from a seed. They have layers of every kind in a random order over four
// blocks, skip connections from any earlier layer, weights that several layers share, and one of
// several losses.
#pragma once

#include <cstdint>

#include "tests/e2e/configurations/small_networks.hpp"

namespace penstock::testing {

/// Returns the network of `seed`. Its layers do not depend on the marks that it is built with.
SmallNetwork random_graph(std::uint32_t seed);

}  // namespace penstock::testing
