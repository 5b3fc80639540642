#include "actors/execution/host_port.hpp"

#include <chrono>

namespace penstock::actors {

void HostPort::begin_call() {
  const std::lock_guard lock(mutex_);
  if (failure_)
    throw Error(Errc::closed, "the model has failed before and cannot go on: " + failure_->text);
  answer_.reset();
  in_call_ = true;
  progress();  // the time before the call is no part of its silence
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

void HostPort::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  if (failure.stops_update) updating_ = false;
  in_call_ = false;
  changed_.notify_all();
}

bool HostPort::answered() const {
  const std::lock_guard lock(mutex_);
  return answer_ || failure_;
}

bool HostPort::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

Answer HostPort::wait(double quiet_seconds) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> quiet(quiet_seconds);
  const auto ended = [this] { return answer_ || failure_; };
  for (std::uint64_t seen = progressed(); !changed_.wait_for(lock, quiet, ended);) {
    if (progressed() == seen) {
      failure_ = Failure{Errc::stalled, "the engine has not answered, and its watchdog is silent"};
      in_call_ = false;
    }
    seen = progressed();
  }
  if (failure_) throw Error(failure_->code, failure_->text);
  Answer answer = std::move(*answer_);
  answer_.reset();
  return answer;
}

bool HostPort::update_begins() {
  const std::lock_guard lock(mutex_);
  updating_ = !failure_;
  return updating_;
}

void HostPort::update_ended() {
  const std::lock_guard lock(mutex_);
  updating_ = false;
  ++updates_;
  changed_.notify_all();
}

std::uint64_t HostPort::updates() const {
  const std::lock_guard lock(mutex_);
  return updates_;
}

void HostPort::await_update_end(double limit_seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                    [this] { return !updating_; });
}

}  // namespace penstock::actors
