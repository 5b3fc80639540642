// Networks drawn from a seed: layers of every kind in a random order over four blocks, with skips
// from anywhere before, weights that several layers share, and one of several losses.
#pragma once

#include <cstdint>

#include "tests/e2e/configurations/small_networks.hpp"

namespace penstock::testing {

/// Returns the same network for the same seed, whatever marks it is built with.
SmallNetwork random_graph(std::uint32_t seed);

}  // namespace penstock::testing
