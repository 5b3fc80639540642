// In a contest, the engine and PyTorch do the same task in turns, so that a change of the machine's
// speed affects both. The medians of their times are compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/runners/penstock_runner.hpp"
#include "benchmarks/runners/work.hpp"

namespace penstock::benchmarks {

struct Goal {
  double samples_per_second = 0;  ///< Is 0 if there is no goal for the speed.
  double times_pytorch = 0;       ///< Is 0 if there is no goal for the multiple of PyTorch's speed.
};

struct Contest {
  std::string title;
  Task task;
  /// Counts the millions of operations of one sample in the network as its author wrote it down,
  /// where a multiply-add counts as two. Training counts the operations of the forward three times,
  /// without those that the gradient of the images would take.
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
  /// Is PyTorch's speed with one thread or with two, whichever is faster; it is 0 if PyTorch is not
  /// installed.
  Speed pytorch = {};
  /// Is the difference between the outcomes of both first runs, divided by PyTorch's outcome.
  double difference = 0;
  /// Counts the blocks of tensor memory that the engine allocated while it was measured.
  std::uint64_t blocks = 0;
};

/// Measures `rounds` runs of each contestant, in turns.
Standing hold(const Contest& contest, int rounds);

}  // namespace penstock::benchmarks
