// SystemOptions say how an actor system runs its actors. They are plain data, so that code that
// does not use CAF can set them.
#pragma once

namespace penstock::actors {

struct SystemOptions {
  /// This many worker threads run the actors that have no thread of their own. If this is 0, there
  /// is one worker for each CPU that the process may use.
  int threads = 0;
  /// If this is true, the system starts no thread: the caller runs every job, under a virtual
  /// clock.
  bool deterministic = false;

  // The defaults of `max_throughput` and `devices_on_threads` were chosen by measurement;
  // benchmarks/scheduler_benchmark compares others.

  /// An actor handles at most this many messages before other actors have their turn.
  int max_throughput = 20;
  /// If this is true, each IPU has a thread of its own. Otherwise the workers run the IPUs.
  bool devices_on_threads = false;
};

/// Returns the number of worker threads that `options` ask for.
int worker_threads(const SystemOptions& options);

}  // namespace penstock::actors
