// ReaderJobs are what a loader's readers do: they run the code of a dataset. A pool gives each
// reader its jobs one after the other. A dataset's code may take any time. It therefore never runs
// on an actor's thread, and the thread that runs it holds nothing for which another thread waits.
#pragma once

#include <memory>

namespace penstock::actors {

/// Is one task for one reader.
class ReaderJob {
 public:
  virtual ~ReaderJob() = default;
  /// Does the work and reports its result.
  virtual void run() noexcept = 0;

  std::unique_ptr<ReaderJob> next = {};  ///< Is the job after this one in a reader's queue.
};

/// Holds what a reader has of the host's: the dataset, and perhaps one of its streams.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Releases everything of the host's. The reader gets no job afterwards.
  virtual void end() noexcept = 0;
};

class ReaderPool {
 public:
  virtual ~ReaderPool() = default;
  /// Gives reader number `reader` a job, to be done after the jobs that it already has. The
  /// function allocates nothing.
  virtual void post(int reader, std::unique_ptr<ReaderJob> job) noexcept = 0;
};

}  // namespace penstock::actors
