// compare_balanced_stages() says how much faster four equal stages are if they work at the same
// time instead of one at a time, and balanced_bubble() how much of their IPUs' time is idle.
#pragma once

#include "penstock/profile.hpp"

namespace penstock::benchmarks {

/// A StageTimes has medians of several rounds for one way to run the stages.
struct StageTimes {
  /// One forward or backward of a stage takes this much wall-clock time.
  double visit_microseconds = 0;
  double busy_cores = 0;  ///< On average, this many cores compute at the same time.
};

struct BalancedStages {
  StageTimes pipelined, sharded;
  double speedup = 0;  ///< `speedup` is the sharded time divided by the pipelined time.
};

/// Compares pipelined and sharded stages on two worker threads, with windows of `accumulation`
/// micro-batches. Each of the `rounds` rounds runs first the pipelined stages and then the sharded
/// stages.
BalancedStages compare_balanced_stages(int accumulation, int rounds);

/// Returns the bubble of the pipelined stages on two worker threads, as the model's own profile of
/// `rounds` calls and of the call before them has it.
BubbleProfile balanced_bubble(int accumulation, int rounds);

}  // namespace penstock::benchmarks
