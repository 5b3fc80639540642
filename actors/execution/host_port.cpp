#include "actors/execution/host_port.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace penstock::actors {

Error closed_by(const std::string& failure) {
  return Error(Errc::closed, "the model has failed before and cannot go on: " + failure);
}

HostPort::HostPort(std::shared_ptr<std::atomic<std::uint64_t>> updates)
    : updates_(updates ? std::move(updates) : std::make_shared<std::atomic<std::uint64_t>>(0)) {}

void HostPort::begin_call() {
  const std::lock_guard lock(mutex_);
  expect_no_call();
  answer_.reset();
  in_call_ = true;
  progress();  // the time before the call is no part of its silence
}

void HostPort::expect_rest() const {
  const std::lock_guard lock(mutex_);
  expect_no_call();
}

void HostPort::expect_no_call() const {
  if (failure_) throw closed_by(failure_->text);
  if (in_call_)
    throw Error(Errc::busy,
                "the engine is in another call of the host's; call it again when that has "
                "returned");
}

void HostPort::abandon_call() noexcept {
  const std::lock_guard lock(mutex_);
  in_call_ = false;
}

bool HostPort::in_call() const {
  const std::lock_guard lock(mutex_);
  return in_call_;
}

void HostPort::answer(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
  in_call_ = false;
  changed_.notify_all();
}

void HostPort::fail(Failure failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (failure.stops_update) updating_ = false;
  if (!failure_) failure_ = std::move(failure);
  in_call_ = false;
  changed_.notify_all();
}

bool HostPort::answered() const {
  const std::lock_guard lock(mutex_);
  return ended();
}

bool HostPort::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

std::string HostPort::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? failure_->text : "";
}

Answer HostPort::wait(double quiet_seconds, const Watchdog& watchdog) {
  std::unique_lock lock(mutex_);
  await_end(lock, quiet_seconds, watchdog);
  if (failure_) throw Error(failure_->code, failure_->text);
  Answer answer = std::move(*answer_);
  answer_.reset();
  return answer;
}

void HostPort::await_end(std::unique_lock<std::mutex>& lock, double quiet_seconds,
                         const Watchdog& watchdog) {
  const std::size_t most_calls = watchdog ? std::size(watchdog_seconds) : 0;
  std::size_t calls = 0;  // of the watchdog, since something has moved
  std::uint64_t seen = progressed();
  const auto in_time = [&] {
    const double limit = calls == 0 ? quiet_seconds : watchdog_seconds[calls - 1];
    return changed_.wait_for(lock, std::chrono::duration<double>(limit),
                             [this] { return ended(); });
  };
  while (!in_time()) {
    if (progressed() != seen) {
      calls = 0;
      seen = progressed();
    } else if (calls < most_calls) {
      ++calls;
      lock.unlock();
      watchdog(seen);
      lock.lock();
    } else {
      failure_ = Failure{Errc::stalled, "the engine has not answered, and its watchdog is silent"};
      in_call_ = false;
    }
  }
}

bool HostPort::update_begins() {
  const std::lock_guard lock(mutex_);
  updating_ = !failure_;
  return updating_;
}

void HostPort::update_ended() {
  const std::lock_guard lock(mutex_);
  updating_ = false;
  ++*updates_;
  changed_.notify_all();
}

void HostPort::await_update_end(double limit_seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                    [this] { return !updating_; });
}

}  // namespace penstock::actors
