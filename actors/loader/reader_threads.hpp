// ReaderThreads are a pool that has a thread for each of a loader's readers. Because a dataset's
// code may never return, a thread that is still in such code when the pool closes is left behind.
// Such a thread keeps alive what it needs, and releases that if the code does return. Any thread
// may use the pool; one thread closes it.
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
  /// @throws Error out_of_memory if so many threads cannot be started; in that case, those that
  /// were started have ended.
  explicit ReaderThreads(std::vector<std::shared_ptr<Reader>> readers);
  /// Closes the pool, unless close() has been called. Every thread that is still at work is left
  /// behind.
  ~ReaderThreads() override;
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  void post(int reader, std::unique_ptr<ReaderJob> job) noexcept override;

  /// Waits until all threads have ended, for `limit` at most. No reader begins another job, not
  /// even one that is in its queue. Threads that have not ended by then are left behind.
  void close(std::chrono::nanoseconds limit) noexcept;
  /// Returns whether the thread of reader number `reader` has not ended. After close(), such a
  /// thread is one that was left behind.
  bool left_behind(int reader) const noexcept;

 private:
  struct Shared;
  void end_started() noexcept;
  static void serve(const std::shared_ptr<Shared>& shared, std::size_t reader) noexcept;

  std::shared_ptr<Shared> shared_;
  std::vector<EngineThread> threads_;  // This is empty once the pool is closed.
};

}  // namespace penstock::actors
