#pragma once

#include <vector>

#include "benchmarks/networks/contest.hpp"

namespace penstock::benchmarks {

/// Returns the contests of torchvision's networks: training of 8 and 32 images an update, training
/// in replicas, and inference of 1, 8 and 32 images.
std::vector<Contest> deep_contests();

}  // namespace penstock::benchmarks
