// In a contest, the engine and PyTorch do the same task in turns, so that a change of the machine's
// mood meets both. Medians count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/runners/penstock_runner.hpp"
#include "benchmarks/runners/work.hpp"

namespace penstock::benchmarks {

struct Goal {
  double samples_per_second = 0;  ///< Is 0 if there is none.
  double times_pytorch = 0;       ///< Is 0 if there is none.
};

struct Contest {
  std::string title;
  Task task;
  /// Counts the millions of operations of one sample, as the network is written down, where a
  /// multiply-add counts as two. Training has those of the forward and twice that again, but for
  /// the gradient of the images.
  double megaflops = 0;
  /// Holds settings of the engine, of which the fastest in a trial is measured.
  std::vector<Setting> settings;
  Cut pytorch;  ///< Has as many samples per run as every setting.
  Goal goal = {};
};

struct Speed {
  double samples_per_second = 0;
  std::string setting = {};
};

struct Standing {
  Speed penstock;
  /// Is the speed with the number of threads that is faster; it is 0 if PyTorch is not installed.
  Speed pytorch = {};
  double difference = 0;  ///< Compares the outcomes of the first runs, relative to PyTorch's.
  /// Counts the blocks of tensor memory that the engine allocated while it was measured.
  std::uint64_t blocks = 0;
};

/// Measures `rounds` runs of each contestant, in turns.
Standing hold(const Contest& contest, int rounds);

}  // namespace penstock::benchmarks
