// A JobQueue holds the actors that have mail, in the order in which they got the mail, and lets
// threads wait for such actors. Adding an actor to the queue allocates nothing and throws nothing:
// room for an actor is made when it is spawned, and no actor is in the queue twice. Any thread may
// use a JobQueue.
#pragma once

#include <caf/fwd.hpp>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace penstock::actors {

class JobQueue {
 public:
  /// Makes room for another actor. @throws std::bad_alloc
  void add_seat();
  /// Gives up the room of an actor that is not in the queue and will not be added to it again.
  void remove_seat() noexcept;

  /// Adds `job`, and wakes a thread that waits, if there is one.
  void push(caf::resumable* job) noexcept;
  /// Adds `job`. Only a thread that has got its present job from this queue, and calls pop() or
  /// exchange() as soon as that job is done, may call this function. If `job` is the only one in
  /// the queue, the thread is left to take it itself, because waking another thread takes longer
  /// than most jobs; otherwise a thread that waits is woken. A thread that is not done soon calls
  /// wake_another() before it goes on.
  void push_from_worker(caf::resumable* job) noexcept;
  /// Wakes a thread that waits, if there is one and there is a job for it.
  void wake_another() noexcept;
  /// Waits until there is a job, and takes the first one. Returns null once the queue is closed and
  /// empty.
  caf::resumable* pop() noexcept;
  /// Puts `job` at the end of the queue and takes the first job, which is `job` itself if the queue
  /// was empty. Otherwise there is a job left, for which a thread that waits is woken.
  caf::resumable* exchange(caf::resumable* job) noexcept;

  /// Returns how many threads wait for a job.
  std::size_t waiting() const noexcept;

  /// Lets no thread wait any longer. Jobs may still be added afterwards, and pop() returns them.
  void close() noexcept;

 private:
  void append(caf::resumable* job) noexcept;
  /// Unlocks `lock`, and wakes a thread that waits, if there is one and there are `least` jobs or
  /// more.
  void unlock_and_wake(std::unique_lock<std::mutex>& lock, std::size_t least) noexcept;
  caf::resumable* take_first() noexcept;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<caf::resumable*> ring_;
  // The ring has `size_` jobs, the first of them at position `first_`.
  std::size_t first_ = 0, size_ = 0;
  std::size_t seats_ = 0;
  std::size_t waiting_ = 0;  // This many threads wait for a job.
  bool closed_ = false;
};

/// While a Seat lives, it keeps room for one actor in a queue.
class Seat {
 public:
  Seat() = default;
  /// @throws std::bad_alloc
  explicit Seat(JobQueue& queue) : queue_(&queue) { queue.add_seat(); }
  Seat(Seat&& other) noexcept : queue_(other.queue_) { other.queue_ = nullptr; }
  Seat& operator=(Seat&&) = delete;
  ~Seat() {
    if (queue_) queue_->remove_seat();
  }

 private:
  JobQueue* queue_ = nullptr;
};

}  // namespace penstock::actors
