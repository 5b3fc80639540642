// These functions return the contests of the table. Each contest says which network runs in which
// settings.
#pragma once

#include <vector>

#include "benchmarks/networks/contest.hpp"

namespace penstock::benchmarks {

/// Returns the training of mnist-cnn in its own topology, four stages.
const Contest& mnist_training();
/// Returns all contests. The first one is mnist_training().
const std::vector<Contest>& contests();

}  // namespace penstock::benchmarks
