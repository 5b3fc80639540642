// What a pipeline of four equal stages gains over one IPU at a time.
#pragma once

namespace penstock::benchmarks {

struct BalancedStages {
  double speedup = 0;  ///< of pipelined over sharded execution, medians of alternating runs
  double stage_microseconds = 0;  ///< one stage's forward and backward of one micro-batch
};

/// On two worker threads, with windows of `accumulation` micro-batches.
BalancedStages compare_balanced_stages(int accumulation, int rounds);

}  // namespace penstock::benchmarks
