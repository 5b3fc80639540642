// This measures how fast cores read and write memory, which bounds kernels that compute little per
// byte.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// A WorkingSet is memory that one core reads or writes again and again: from the nearest cache
/// that holds all of it, or from main memory.
class WorkingSet {
 public:
  WorkingSet(graph::Isa isa, std::int64_t bytes);

  /// Returns the GB/s of one pass.
  double read();
  double write();

 private:
  graph::Isa isa_;
  std::int64_t floats_;
  std::shared_ptr<std::byte> memory_;
};

/// Returns the GB/s of so many threads at once, each reading 256 MB of its own. Each thread counts
/// with the best of several passes.
double memory_bandwidth(graph::Isa isa, int threads = 1);

}  // namespace penstock::benchmarks
