// ReaderThreads has a thread for each of a loader's readers. As a dataset's code may never return,
// a thread that is still in it when the pool closes is left behind: it shares what it needs with
// nobody else by then, and frees that when the code does return. Any thread may use the pool; one
// closes it.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "actors/loader/reader_job.hpp"
#include "actors/threads/engine_thread.hpp"

namespace penstock::actors {

class ReaderThreads : public ReaderPool {
 public:
  /// @throws Error out_of_memory if there are not so many threads; none is left then.
  explicit ReaderThreads(std::vector<std::shared_ptr<Reader>> readers);
  /// Leaves behind every thread that does not end at once, unless close() has been called.
  ~ReaderThreads() override;
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  void post(int reader, std::unique_ptr<ReaderJob> job) noexcept override;

  /// Lets no reader begin another job, not even one that it was given, and waits until all threads
  /// have ended, for `limit` at the most. Threads that have not ended by then are left behind.
  void close(std::chrono::nanoseconds limit) noexcept;
  /// Returns whether a reader's thread has been left behind and is still there.
  bool left_behind(int reader) const noexcept;

 private:
  struct Shared;
  void end_started() noexcept;
  static void serve(const std::shared_ptr<Shared>& shared, std::size_t reader) noexcept;

  std::shared_ptr<Shared> shared_;
  std::vector<EngineThread> threads_;  // There are none once it is closed.
};

}  // namespace penstock::actors
