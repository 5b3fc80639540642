#include "actors/host_port.hpp"

#include <chrono>

namespace penstock::actors {

void HostPort::begin_call() {
  const std::lock_guard lock(mutex_);
  if (failure_)
    throw Error(Errc::closed, "the model has failed before and cannot go on: " + failure_->text);
  answer_.reset();
  in_call_ = true;
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
  in_call_ = false;
  changed_.notify_all();
}

bool HostPort::answered() const {
  const std::lock_guard lock(mutex_);
  return answer_ || failure_;
}

Answer HostPort::wait(double limit_seconds) {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                                         [this] { return answer_ || failure_; });
  if (failure_) throw Error(failure_->code, failure_->text);
  if (!in_time) {
    failure_ = Failure{Errc::stalled, "the engine has not answered, and its watchdog is silent"};
    throw Error(failure_->code, failure_->text);
  }
  Answer answer = std::move(*answer_);
  answer_.reset();
  return answer;
}

}  // namespace penstock::actors
