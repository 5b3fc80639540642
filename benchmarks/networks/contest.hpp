// In a contest, the engine and PyTorch do the same task in turns, so that a change of the machine's
// speed affects both. The medians of the times of both are compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/runners/penstock_runner.hpp"
#include "benchmarks/runners/work.hpp"

namespace penstock::benchmarks {

struct Goal {
  double samples_per_second = 0;  ///< `samples_per_second` is 0 if there is no goal for the speed.
  /// `times_pytorch` is 0 if there is no goal for the multiple of PyTorch's speed.
  double times_pytorch = 0;
  /// `times_openblas` is the goal beside a PyTorch whose matrix products OpenBLAS computes, or 0 if
  /// `times_pytorch` is the goal there, too.
  double times_openblas = 0;
};

struct Contest {
  std::string title;
  std::string unit = "images/s";  ///< `unit` says what a sample is called, per second.
  Task task;
  /// `megaflops` is the number of operations of one sample, in millions, in the network as its
  /// author wrote it down. A multiply-add counts as two operations. Training counts the operations
  /// of the forward three times, without those that the gradient of the images would take.
  double megaflops = 0;
  /// `settings` are settings of the engine, of which the fastest in a trial is measured.
  std::vector<Setting> settings;
  Cut pytorch;  ///< `pytorch` has as many samples per run as every setting.
  Goal goal = {};
};

struct Speed {
  double samples_per_second = 0;
  std::string setting = {};
};

struct Standing {
  Speed penstock;
  /// `pytorch` is PyTorch's speed with one thread or with two, whichever is faster. The speed is 0
  /// if PyTorch is not installed.
  Speed pytorch = {};
  /// `difference` is the difference between the outcomes of both first runs, divided by PyTorch's
  /// outcome.
  double difference = 0;
  /// The engine allocated this many blocks of tensor memory while it was measured.
  std::uint64_t blocks = 0;
};

/// Measures `rounds` runs of each contestant, in turns.
Standing hold(const Contest& contest, int rounds);

}  // namespace penstock::benchmarks
