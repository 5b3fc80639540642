// Letter: a message that is allocated before it is needed, so that sending it cannot fail. Owned by
// whoever sends it, and used on that one's thread.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <utility>

namespace penstock::actors {

/// `Message` is moved without an exception.
template <class Message>
class Letter {
 public:
  /// Writes the letter, if it is not there, with what `make` returns. @throws std::bad_alloc, or
  /// what `make` throws: then it is not there.
  void prepare(const auto& make) {
    if (!element_)
      element_ = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Message(make()));
  }
  /// The message of a letter that is there, to be changed.
  Message& message() noexcept { return element_->content().template get_mutable_as<Message>(0); }
  /// Sends a letter that is there, from a handler that `unit` runs. Then it is not there any more.
  void send(const auto& to, caf::execution_unit* unit) noexcept {
    caf::actor_cast<caf::strong_actor_ptr>(to)->enqueue(std::move(element_), unit);
  }

 private:
  caf::mailbox_element_ptr element_;
};

}  // namespace penstock::actors
