// Chains of multiply-adds in registers, compiled once per instruction set like the kernels.
#pragma once

#include <cstdint>

namespace penstock::benchmarks {

/// What one round of `chains` does: 2 * sums * lanes operations.
struct Chains {
  std::int64_t flops_per_round;
  float (*run)(std::int64_t rounds);
};

}  // namespace penstock::benchmarks
