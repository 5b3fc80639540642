// ReaderThreads is a pool with a thread for each of a loader's readers. A dataset's code may never
// return, so a thread that is still in such code when the pool closes is left behind: by then it
// alone holds what it needs, and frees that when the code does return. Any thread may use the pool;
// one thread closes it.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "actors/loader/reader_job.hpp"
#include "actors/threads/engine_thread.hpp"

namespace penstock::actors {

class ReaderThreads : public ReaderPool {
 public:
  /// Starts a thread for each reader.
  /// @throws Error out_of_memory if the machine cannot start so many threads; those that were
  /// started have then ended.
  explicit ReaderThreads(std::vector<std::shared_ptr<Reader>> readers);
  /// Leaves behind every thread that does not end at once, unless close() has been called.
  ~ReaderThreads() override;
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  void post(int reader, std::unique_ptr<ReaderJob> job) noexcept override;

  /// Lets no reader begin another job, not even one that is in its queue, and waits until all
  /// threads have ended, for `limit` at most. Threads that have not ended by then are left behind.
  void close(std::chrono::nanoseconds limit) noexcept;
  /// Returns whether a reader's thread has been left behind and is still there.
  bool left_behind(int reader) const noexcept;

 private:
  struct Shared;
  void end_started() noexcept;
  static void serve(const std::shared_ptr<Shared>& shared, std::size_t reader) noexcept;

  std::shared_ptr<Shared> shared_;
  std::vector<EngineThread> threads_;  // Is empty once the pool is closed.
};

}  // namespace penstock::actors
