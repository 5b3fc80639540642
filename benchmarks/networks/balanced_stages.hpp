// compare_balanced_stages() says how much faster four equal stages are if they work at the same
// time instead of one at a time.
#pragma once

namespace penstock::benchmarks {

/// Holds medians of several rounds for one way to run the stages.
struct StageTimes {
  double visit_microseconds = 0;  ///< Is the wall-clock time of one forward or backward of a stage.
  double busy_cores = 0;          ///< Counts the cores that compute at the same time, on average.
};

struct BalancedStages {
  StageTimes pipelined, sharded;
  double speedup = 0;  ///< Is the sharded time divided by the pipelined time.
};

/// Compares pipelined and sharded stages on two worker threads, with windows of `accumulation`
/// micro-batches. Each of the `rounds` rounds runs first the pipelined and then the sharded ones.
BalancedStages compare_balanced_stages(int accumulation, int rounds);

}  // namespace penstock::benchmarks
