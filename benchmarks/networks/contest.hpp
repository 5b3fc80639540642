// A contest: the engine and PyTorch do the same task in turns, so that a change of the machine's
// mood meets both; medians count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/runners/penstock_runner.hpp"
#include "benchmarks/runners/work.hpp"

namespace penstock::benchmarks {

struct Goal {
  double samples_per_second = 0;  ///< 0: none
  double times_pytorch = 0;       ///< 0: none
};

struct Contest {
  std::string title;
  Task task;
  /// Of one sample, as the network is written down, a multiply-add counting as two: forward, and in
  /// training twice that again, but for the images' gradient.
  double megaflops = 0;
  std::vector<Setting> settings;  ///< of the engine; the fastest of a trial is measured
  Cut pytorch;                    ///< of as many samples per run as every setting's
  Goal goal = {};
};

struct Speed {
  double samples_per_second = 0;
  std::string setting = {};
};

struct Standing {
  Speed penstock;
  Speed pytorch = {};        ///< with the number of threads that is faster; 0: not installed
  double difference = 0;     ///< of the outcomes of the first runs, relative to PyTorch's
  std::uint64_t blocks = 0;  ///< of tensor memory that the engine allocated while it was measured
};

/// `rounds` runs of each contestant in turns.
Standing hold(const Contest& contest, int rounds);

}  // namespace penstock::benchmarks
