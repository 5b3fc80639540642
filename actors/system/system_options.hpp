// SystemOptions: how an actor system gets its work done. Plain data, for those who know no CAF too.
#pragma once

namespace penstock::actors {

struct SystemOptions {
  int threads = 0;  ///< worker threads for scheduled actors; 0: one per CPU of the process
  bool deterministic = false;  ///< no threads: the caller runs every job, under a virtual clock

  // Chosen by measurement: benchmarks/scheduler_benchmark compares.
  int max_throughput = 20;  ///< messages that an actor handles before others have their turn
  bool devices_on_threads = false;  ///< each IPU on a thread of its own instead of the workers
};

/// The number of worker threads that these options ask for.
int worker_threads(const SystemOptions& options);

}  // namespace penstock::actors
