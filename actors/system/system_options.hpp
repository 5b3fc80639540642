// SystemOptions say how an actor system gets its work done. They are plain data, which code that
// does not use CAF can set, too.
#pragma once

namespace penstock::actors {

struct SystemOptions {
  /// Counts the worker threads, which run the actors that have no thread of their own. If it is 0,
  /// there is one worker for each CPU that the process may use.
  int threads = 0;
  /// Says whether the system starts no thread: the caller runs every job, under a virtual clock.
  bool deterministic = false;

  // These defaults were chosen by measurement; benchmarks/scheduler_benchmark compares others.

  /// Is the number of messages that an actor handles at most before other actors have their turn.
  int max_throughput = 20;
  /// Says whether each IPU has a thread of its own instead of using the workers.
  bool devices_on_threads = false;
};

/// Returns the number of worker threads that `options` ask for.
int worker_threads(const SystemOptions& options);

}  // namespace penstock::actors
