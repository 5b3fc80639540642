#include "actors/loader/batch_port.hpp"

#include <utility>

#include "graph/values/out_of_memory.hpp"

namespace penstock::actors {

std::uint64_t BatchPort::open() noexcept {
  const std::lock_guard lock(mutex_);
  batch_.reset();
  return ++number_;
}

void BatchPort::give(std::uint64_t number, LoadedBatch batch) noexcept {
  const std::lock_guard lock(mutex_);
  if (number != number_) return;
  batch_ = std::move(batch);
  changed_.notify_all();
}

void BatchPort::begin() noexcept {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  changed_.notify_all();
}

void BatchPort::await_begin() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_ || ended_; });
  if (!begun_) throw_out_of_memory("data loader");
}

void BatchPort::end() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::optional<LoadedBatch> BatchPort::wait(std::chrono::nanoseconds limit,
                                           const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, limit, [this] { return batch_ || ended_; });
  if (!batch_ && ended_)
    throw Error(Errc::closed, "data loader: its actor has ended; make a new one");
  return taken();
}

std::optional<LoadedBatch> BatchPort::take() noexcept {
  const std::lock_guard lock(mutex_);
  return taken();
}

std::optional<LoadedBatch> BatchPort::taken() noexcept {
  return std::exchange(batch_, std::nullopt);
}

}  // namespace penstock::actors
