#include "actors/system/job_queue.hpp"

#include <algorithm>

namespace penstock::actors {

void JobQueue::add_seat() {
  const std::lock_guard lock(mutex_);
  if (seats_ == ring_.size()) {
    std::vector<caf::resumable*> larger(std::max<std::size_t>(16, 2 * ring_.size()));
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
    ring_.swap(larger);
    first_ = 0;
  }
  ++seats_;
}

void JobQueue::remove_seat() noexcept {
  const std::lock_guard lock(mutex_);
  --seats_;
}

void JobQueue::append(caf::resumable* job) noexcept {
  const std::size_t last = first_ + size_++;
  ring_[last < ring_.size() ? last : last - ring_.size()] = job;
}

caf::resumable* JobQueue::take_first() noexcept {
  caf::resumable* const job = ring_[first_];
  if (++first_ == ring_.size()) first_ = 0;
  --size_;
  return job;
}

void JobQueue::unlock_and_wake(std::unique_lock<std::mutex>& lock, std::size_t least) noexcept {
  const bool is_wanted = waiting_ > 0 && size_ >= least;
  lock.unlock();
  if (is_wanted) changed_.notify_one();
}

void JobQueue::push(caf::resumable* job) noexcept {
  std::unique_lock lock(mutex_);
  append(job);
  unlock_and_wake(lock, 1);
}

void JobQueue::push_from_worker(caf::resumable* job) noexcept {
  std::unique_lock lock(mutex_);
  append(job);
  unlock_and_wake(lock, 2);
}

void JobQueue::wake_another() noexcept {
  std::unique_lock lock(mutex_);
  unlock_and_wake(lock, 1);
}

caf::resumable* JobQueue::pop() noexcept {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [this] { return size_ > 0 || closed_; });
  --waiting_;
  return size_ > 0 ? take_first() : nullptr;
}

caf::resumable* JobQueue::exchange(caf::resumable* job) noexcept {
  std::unique_lock lock(mutex_);
  if (size_ == 0) return job;
  append(job);
  caf::resumable* const first = take_first();
  unlock_and_wake(lock, 1);
  return first;
}

std::size_t JobQueue::waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void JobQueue::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace penstock::actors
