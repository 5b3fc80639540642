#include "actors/host/wait_picture.hpp"

#include <algorithm>
#include <new>

namespace penstock::actors {

void WaitPicture::begin(std::size_t actors, std::vector<Wait> waits) noexcept {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  asked_ = actors;
  answers_ = 0;
  waits_ = std::move(waits);
}

void WaitPicture::add(const Wait& wait) noexcept {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!wait.text.empty()) waits_.push_back(wait);
      ++answers_;
    } catch (const std::bad_alloc&) {
      // If there is no memory for `wait`, the actor counts as one that has not answered.
    }
    if (answers_ < asked_) return;
  }
  bell_->ring();
}

bool WaitPicture::complete() const noexcept {
  const std::lock_guard lock(mutex_);
  return begun_ && answers_ >= asked_;
}

WaitPicture::Content WaitPicture::take() {
  const std::lock_guard lock(mutex_);
  Content content{std::move(waits_), asked_, asked_ - answers_};
  waits_.clear();
  std::ranges::sort(content.waits, {}, &Wait::actor);
  return content;
}

}  // namespace penstock::actors
