// SystemOptions: how an actor system gets its work done. Plain data, for those who know no CAF too.
#pragma once

#include <cstdint>

namespace penstock::actors {

/// How the workers share out the actors that have mail.
enum class WorkerPolicy : std::uint8_t {
  sharing,   ///< all from one queue
  stealing,  ///< each from a queue of its own, and from the others' when that is empty
};

struct SystemOptions {
  int threads = 0;             ///< worker threads for scheduled actors; 0: one per core
  bool deterministic = false;  ///< no threads: the caller runs every job, under a virtual clock

  // Chosen by measurement: benchmarks/scheduler_benchmark compares.
  WorkerPolicy policy = WorkerPolicy::sharing;
  int max_throughput = 20;  ///< messages that an actor handles before others have their turn
  bool devices_on_threads = false;  ///< each IPU on a thread of its own instead of the workers
};

/// How many workers those are.
int worker_threads(const SystemOptions& options);

}  // namespace penstock::actors
