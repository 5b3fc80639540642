// ReaderJobs are what a loader's readers do: they run the code of a dataset. A pool gives each
// reader its jobs one after the other. A dataset's code may take any amount of time. Therefore it
// never runs on an actor's thread, and a thread that runs it holds nothing for which another thread
// waits.
#pragma once

#include <memory>

namespace penstock::actors {

/// A ReaderJob is one task for one reader.
class ReaderJob {
 public:
  virtual ~ReaderJob() = default;
  /// Does the task and reports its result.
  virtual void run() noexcept = 0;

  std::unique_ptr<ReaderJob> next = {};  ///< This is the next job in a reader's queue.
};

/// A Reader holds objects that belong to the host: the dataset, and perhaps one of its streams.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Releases all objects that belong to the host. The reader gets no job afterwards.
  virtual void end() noexcept = 0;
};

class ReaderPool {
 public:
  virtual ~ReaderPool() = default;
  /// Gives reader number `reader` a job, which comes after the jobs that the reader already has.
  /// The function allocates nothing.
  virtual void post(int reader, std::unique_ptr<ReaderJob> job) noexcept = 0;
};

}  // namespace penstock::actors
