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

void JobQueue::push(caf::resumable* job) noexcept {
  bool somebody_waits;
  {
    const std::lock_guard lock(mutex_);
    append(job);
    somebody_waits = waiting_ > 0;
  }
  if (somebody_waits) changed_.notify_one();
}

caf::resumable* JobQueue::pop() noexcept {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [this] { return size_ > 0 || closed_; });
  --waiting_;
  return size_ > 0 ? take_first() : nullptr;
}

caf::resumable* JobQueue::exchange(caf::resumable* job) noexcept {
  const std::lock_guard lock(mutex_);
  if (size_ == 0) return job;
  append(job);
  return take_first();
}

void JobQueue::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace penstock::actors
