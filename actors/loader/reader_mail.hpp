// ReaderMail is the way from a loader's readers to its actor. A message was made together with the
// task whose end it tells, so that sending it allocates nothing and cannot fail. It is closed
// before the actors' system ends, which a reader may outlive. Any thread may use it.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/mailbox_element.hpp>
#include <mutex>
#include <utility>

namespace penstock::actors {

class ReaderMail {
 public:
  void open(caf::strong_actor_ptr loader) noexcept {
    const std::lock_guard lock(mutex_);
    loader_ = std::move(loader);
  }

  /// Sends `message`, taken from a letter, to the loader's actor, or drops it if the mail is not
  /// open.
  void post(caf::mailbox_element_ptr message) noexcept {
    const std::lock_guard lock(mutex_);
    if (loader_) loader_->enqueue(std::move(message), nullptr);
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    loader_ = nullptr;
  }

 private:
  std::mutex mutex_;
  caf::strong_actor_ptr loader_;
};

}  // namespace penstock::actors
