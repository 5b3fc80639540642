// A JobQueue holds the actors that have mail, in the order in which they got it, and lets threads
// wait for them. Pushing allocates nothing and throws nothing: room for an actor is made when it is
// spawned, and no actor is in the queue twice. Any thread may use a JobQueue.
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
  /// Gives up the room of an actor that is not in the queue and never will be again.
  void remove_seat() noexcept;

  void push(caf::resumable* job) noexcept;
  /// Waits for a job. Returns null once the queue is closed and empty.
  caf::resumable* pop() noexcept;
  /// Puts `job` at the end of the queue and takes the first job, which is `job` itself if the queue
  /// was empty.
  caf::resumable* exchange(caf::resumable* job) noexcept;

  /// Ends the waiting of all threads. Jobs may still be pushed afterwards, and pop() returns them.
  void close() noexcept;

 private:
  void append(caf::resumable* job) noexcept;
  caf::resumable* take_first() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<caf::resumable*> ring_;
  // The jobs in the ring begin at `first_`, and there are `size_` of them.
  std::size_t first_ = 0, size_ = 0;
  std::size_t seats_ = 0;
  std::size_t waiting_ = 0;  // Counts the threads that wait.
  bool closed_ = false;
};

/// Keeps room for one actor in a queue for as long as this object lives.
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
