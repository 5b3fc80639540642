// These functions measure how fast cores read and write memory. That speed bounds kernels that
// compute little per byte.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// A WorkingSet is memory that one core reads or writes again and again. The core finds it in the
/// nearest cache that has room for all of it, or in main memory.
class WorkingSet {
 public:
  WorkingSet(graph::Isa isa, std::int64_t bytes);

  /// Reads all of the memory once, and returns the GB/s.
  double read();
  /// Writes all of the memory once, and returns the GB/s.
  double write();

 private:
  graph::Isa isa_;
  std::int64_t floats_;
  std::shared_ptr<std::byte> memory_;
};

/// Returns the GB/s of `threads` threads together, which read at the same time, each of them 256
/// MiB of its own. The best of several passes counts for each thread.
double memory_bandwidth(graph::Isa isa, int threads = 1);

}  // namespace penstock::benchmarks
