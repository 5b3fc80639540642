#include "actors/host/failure_latch.hpp"

#include <utility>

namespace penstock::actors {

Error closed_by(const std::string& failure) {
  return Error(Errc::closed, "the model has failed before and cannot go on: " + failure);
}

void FailureLatch::fail(Failure failure) noexcept {
  updates_.close();
  if (failure.stops_update) updates_.cut();
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  bell_.ring();
}

bool FailureLatch::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

std::string FailureLatch::text() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? failure_->text : "";
}

std::optional<Errc> FailureLatch::code() const {
  const std::lock_guard lock(mutex_);
  if (!failure_) return std::nullopt;
  return failure_->code;
}

std::optional<Error> FailureLatch::untold() const {
  const std::lock_guard lock(mutex_);
  if (!failure_ || thrown_) return std::nullopt;
  return Error(failure_->code, failure_->text);
}

void FailureLatch::expect_none() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  const Error error = thrown_ ? closed_by(failure_->text) : Error(failure_->code, failure_->text);
  thrown_ = true;  // If there is no memory for `error`, the failure still counts as not thrown.
  throw error;
}

}  // namespace penstock::actors
