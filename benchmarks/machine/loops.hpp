// These loops show what a core can do at most: chains of multiply-adds in registers, and reading
// and writing memory. The build compiles them once per instruction set, like the kernels.
#pragma once

#include <cstdint>

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

struct Loops {
  /// One round has this many operations; a multiply-add counts as two.
  std::int64_t flops_per_round;
  float (*multiply_add)(std::int64_t rounds);
  std::int64_t unit;  ///< The `count` of `read` and of `write` is a multiple of `unit`.
  float (*read)(const float* from, std::int64_t count);
  void (*write)(float* to, std::int64_t count, float value);
};

/// Returns the loops for `isa`, which must be one of available_isas().
const Loops& loops(graph::Isa isa);

}  // namespace penstock::benchmarks
