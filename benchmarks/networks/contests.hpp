// These functions return the contests of the table. Each contest says which network runs in which
// settings.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/networks/contest.hpp"

namespace penstock::benchmarks {

/// Returns the training of mnist-cnn in its own topology, four stages.
const Contest& mnist_training();

/// The deep networks are torchvision's. The small ones are all others.
enum class Networks : std::uint8_t { small, deep };
/// Returns all contests of `networks`. The first one of the small networks is mnist_training().
const std::vector<Contest>& contests(Networks networks);

}  // namespace penstock::benchmarks
