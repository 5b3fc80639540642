// This says what a pipeline of four equal stages gains over one IPU at a time.
#pragma once

namespace penstock::benchmarks {

/// Holds medians of one way to run the stages.
struct StageTimes {
  double visit_microseconds = 0;  ///< Is the wall-clock time of one forward or backward of a stage.
  double busy_cores = 0;          ///< Counts the cores that compute at the same time, on average.
};

struct BalancedStages {
  StageTimes pipelined, sharded;
  double speedup = 0;  ///< Is sharded time over pipelined time, in alternating runs.
};

/// Compares both ways on two worker threads, with windows of `accumulation` micro-batches.
BalancedStages compare_balanced_stages(int accumulation, int rounds);

}  // namespace penstock::benchmarks
