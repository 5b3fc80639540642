#include "actors/execution/host_port.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace penstock::actors {

Error closed_by(const std::string& failure) {
  return Error(Errc::closed, "the model has failed before and cannot go on: " + failure);
}

HostPort::HostPort(std::shared_ptr<std::atomic<std::uint64_t>> updates, Stillness::Now now)
    : silence_{Errc::stalled, "the engine has not answered, and its watchdog is silent"},
      now_(now),
      updates_(updates ? std::move(updates) : std::make_shared<std::atomic<std::uint64_t>>(0)) {}

void HostPort::begin_call() {
  const std::lock_guard lock(mutex_);
  throw_failure();
  expect_no_call();
  answer_.reset();
  in_call_ = true;
  progress();  // the time before the call is no part of its silence
}

void HostPort::expect_rest() {
  const std::lock_guard lock(mutex_);
  throw_failure();
  expect_no_call();
}

bool HostPort::expect_rest_or_failure() const {
  const std::lock_guard lock(mutex_);
  if (!failure_) expect_no_call();
  return failure_.has_value();
}

void HostPort::expect_open() {
  const std::lock_guard lock(mutex_);
  throw_failure();
}

void HostPort::throw_failure() {
  if (!failure_) return;
  const Error error = told_ ? closed_by(failure_->text) : Error(failure_->code, failure_->text);
  told_ = true;  // not before there was memory for the error
  throw error;
}

void HostPort::expect_no_call() const {
  if (in_call_)
    throw Error(Errc::busy,
                "the engine is in another call of the host's; call it again when that has "
                "returned");
}

void HostPort::abandon_call() noexcept {
  const std::lock_guard lock(mutex_);
  in_call_ = false;
}

bool HostPort::awaits_answer() const {
  const std::lock_guard lock(mutex_);
  return in_call_ && !ended();
}

void HostPort::answer(Answer answer) noexcept {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
  changed_.notify_all();
}

void HostPort::fail(Failure failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (failure.stops_update) update_is_cut_ = updating_;
  if (!failure_) failure_ = std::move(failure);
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

std::optional<Error> HostPort::untold_failure() const {
  const std::lock_guard lock(mutex_);
  if (!failure_ || told_) return std::nullopt;
  return Error(failure_->code, failure_->text);
}

Answer HostPort::wait(double quiet_seconds, const Watchdog& watchdog) {
  std::unique_lock lock(mutex_);
  await_end(lock, quiet_seconds, watchdog);
  in_call_ = false;
  throw_failure();
  Answer answer = std::move(*answer_);
  answer_.reset();
  return answer;
}

std::uint64_t HostPort::progressed() const noexcept {
  std::uint64_t all = progress_.load(std::memory_order_relaxed);
  for (const auto& ipu : ipus_) all += ipu->beats();
  return all;
}

void HostPort::excuse(std::uint64_t progress) {
  const std::lock_guard lock(mutex_);
  excused_ = progress;
  ++excuses_;
  changed_.notify_all();
}

std::uint64_t HostPort::excuses() const {
  const std::lock_guard lock(mutex_);
  return excuses_;
}

double HostPort::still_seconds() {
  const std::lock_guard lock(mutex_);
  still_.look(progressed());
  return still_.seconds();
}

void HostPort::await_end(std::unique_lock<std::mutex>& lock, double quiet_seconds,
                         const Watchdog& watchdog) {
  const std::size_t most_calls = watchdog ? std::size(watchdog_seconds) : 0;
  std::size_t calls = 0;  // of the watchdog, that have not been answered
  still_.look(progressed());
  const auto in_time = [&] {
    const double limit = calls == 0 ? quiet_seconds : watchdog_seconds[calls - 1];
    changed_.wait_for(lock, std::chrono::duration<double>(limit),
                      [&] { return ended() || (calls > 0 && excused()); });
    return ended();
  };
  while (!in_time()) {
    if (progressed() != still_.seen()) {
      still_.look(progressed());
      calls = 0;
    } else if (calls > 0 && excused()) {
      calls = 0;
      excused_.reset();
    } else if (calls < most_calls) {
      ++calls;
      const std::uint64_t seen = still_.seen();
      const double seconds = still_.seconds();
      lock.unlock();
      watchdog(seen, seconds);
      lock.lock();
    } else {
      failure_ = std::move(silence_);
    }
  }
}

bool HostPort::update_begins() {
  const std::lock_guard lock(mutex_);
  updating_ = !failure_ && !ending_;
  return updating_;
}

void HostPort::update_ended() {
  const std::lock_guard lock(mutex_);
  updating_ = false;
  changed_.notify_all();
}

void HostPort::let_no_update_begin() noexcept {
  const std::lock_guard lock(mutex_);
  ending_ = true;
}

bool HostPort::is_updating() const {
  const std::lock_guard lock(mutex_);
  return updating_;
}

void HostPort::give_up_update() noexcept {
  const std::lock_guard lock(mutex_);
  update_is_cut_ = updating_;
  changed_.notify_all();
}

void HostPort::count_update_of_stage(std::size_t stages) noexcept {
  const std::lock_guard lock(mutex_);
  if (++stages_updated_ < stages) return;
  stages_updated_ = 0;
  ++*updates_;
}

bool HostPort::await_update_end(double limit_seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                           [this] { return !updating_ || update_is_cut_; });
}

}  // namespace penstock::actors
