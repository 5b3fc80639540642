#include "actors/loader/reader_threads.hpp"

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "actors/system/owning_process.hpp"
#include "graph/values/thread_variables.hpp"

namespace penstock::actors {

/// A JobList is a queue of jobs that allocates nothing.
class JobList {
 public:
  JobList() = default;
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;
  // The jobs are destroyed one by one. If the destructor of `first_` destroyed the whole chain,
  // each job in the chain would take space on the stack.
  ~JobList() {
    while (!empty()) pop();
  }

  bool empty() const noexcept { return !first_; }

  void push(std::unique_ptr<ReaderJob> job) noexcept {
    std::unique_ptr<ReaderJob>& end = first_ ? last_->next : first_;
    last_ = job.get();
    end = std::move(job);
  }

  std::unique_ptr<ReaderJob> pop() noexcept {
    std::unique_ptr<ReaderJob> job = std::move(first_);
    first_ = std::move(job->next);
    return job;
  }

 private:
  std::unique_ptr<ReaderJob> first_;
  ReaderJob* last_ = nullptr;
};

/// A Shared holds what the threads and the pool share. It is destroyed when the last of them ends.
struct ReaderThreads::Shared {
  struct Seat {
    std::shared_ptr<Reader> reader = {};
    JobList jobs = {};
    std::condition_variable work = {};
    bool ended = false;
  };

  explicit Shared(std::vector<std::shared_ptr<Reader>> readers) : seats(readers.size()) {
    for (std::size_t i = 0; i < seats.size(); ++i) seats[i].reader = std::move(readers[i]);
  }
  bool all_ended() const noexcept {
    for (const Seat& seat : seats)
      if (!seat.ended) return false;
    return true;
  }

  std::mutex mutex;
  std::condition_variable ended;
  bool closing = false;
  std::vector<Seat> seats;
};

ReaderThreads::ReaderThreads(std::vector<std::shared_ptr<Reader>> readers)
    : shared_(std::make_shared<Shared>(std::move(readers))) {
  threads_.reserve(shared_->seats.size());
  try {
    for (std::size_t i = 0; i < shared_->seats.size(); ++i)
      threads_.emplace_back("data loader", [shared = shared_, i] { serve(shared, i); });
  } catch (...) {
    end_started();
    throw;
  }
}

// Ends the threads that have been started. They end at once, because they have no jobs yet.
void ReaderThreads::end_started() noexcept {
  for (std::size_t i = threads_.size(); i < shared_->seats.size(); ++i)
    shared_->seats[i].ended = true;
  close(std::chrono::hours(1));
}

ReaderThreads::~ReaderThreads() {
  close(std::chrono::nanoseconds(0));
}

void ReaderThreads::post(int reader, std::unique_ptr<ReaderJob> job) noexcept {
  Shared::Seat& seat = shared_->seats[static_cast<std::size_t>(reader)];
  const std::lock_guard lock(shared_->mutex);
  if (shared_->closing) return;
  seat.jobs.push(std::move(job));
  seat.work.notify_one();
}

void ReaderThreads::serve(const std::shared_ptr<Shared>& shared, std::size_t reader) noexcept {
  const OwningProcess process;
  Shared::Seat& seat = shared->seats[reader];
  for (;;) {
    std::unique_lock lock(shared->mutex);
    seat.work.wait(lock, [&] { return shared->closing || !seat.jobs.empty(); });
    if (shared->closing) break;
    const std::unique_ptr<ReaderJob> job = seat.jobs.pop();
    lock.unlock();
    // The thread prepares anew for each job, because the host may have loaded libraries since the
    // job before.
    static_cast<void>(prepare_to_throw());
    job->run();
  }
  seat.reader->end();
  // The dataset's destructor may have forked the process. The child has this thread alone, for
  // which there is nothing more to do.
  if (!process.is_current()) ::_exit(EXIT_FAILURE);
  const std::lock_guard lock(shared->mutex);
  seat.ended = true;
  shared->ended.notify_all();
}

void ReaderThreads::close(std::chrono::nanoseconds limit) noexcept {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->closing = true;
    for (Shared::Seat& seat : shared_->seats) seat.work.notify_one();
    shared_->ended.wait_for(lock, limit, [this] { return shared_->all_ended(); });
  }
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (left_behind(static_cast<int>(i))) threads_[i].detach();
  threads_.clear();  // The destructors wait for the threads that have not been detached.
}

bool ReaderThreads::left_behind(int reader) const noexcept {
  const std::lock_guard lock(shared_->mutex);
  return !shared_->seats[static_cast<std::size_t>(reader)].ended;
}

}  // namespace penstock::actors
