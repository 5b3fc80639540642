// A ReaderMail brings messages to a loader's actor from its readers and its consumer. The message
// that reports the end of a task is made together with the task's job, so that sending it allocates
// nothing and cannot fail. The mail is closed before the actor system ends, because a reader may
// outlive the system. Any thread may use it.
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

  /// Sends `message`, which was taken from a Letter, to the loader's actor, or drops the message if
  /// the mail is not open.
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
