#include "actors/host/call_slot.hpp"

#include <utility>

#include "penstock/error.hpp"

namespace penstock::actors {

void CallSlot::begin() {
  const std::lock_guard lock(mutex_);
  expect_none_locked();
  answer_.reset();
  under_way_ = true;
}

void CallSlot::expect_none() const {
  const std::lock_guard lock(mutex_);
  expect_none_locked();
}

void CallSlot::expect_none_locked() const {
  if (under_way_)
    throw Error(Errc::busy,
                "the engine is in another call of the host's; call it again when that has "
                "returned");
}

void CallSlot::answer(Answer answer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  bell_.ring();
}

bool CallSlot::answered() const {
  const std::lock_guard lock(mutex_);
  return answer_.has_value();
}

bool CallSlot::awaits_answer() const {
  const std::lock_guard lock(mutex_);
  return under_way_ && !answer_;
}

std::optional<Answer> CallSlot::end() noexcept {
  const std::lock_guard lock(mutex_);
  under_way_ = false;
  return std::exchange(answer_, std::nullopt);
}

}  // namespace penstock::actors
