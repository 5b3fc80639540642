// A Letter is a message that is allocated before it is needed, so that sending it cannot fail. The
// letter owns the message until the message is sent; from then on the receiver's mailbox owns the
// message. Only one thread at a time may use a letter.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <utility>

namespace penstock::actors {

/// A Letter has a `Message`, whose move throws nothing. A letter is either written, with a message
/// in it, or blank. Only a written letter may be changed, sent or taken.
template <class Message>
class Letter {
 public:
  Letter() = default;
  /// Writes the letter with `message`. @throws std::bad_alloc
  explicit Letter(Message message) {
    prepare([&]() -> Message&& { return std::move(message); });
  }

  /// Writes the letter, if it is blank, with the message that `make` returns.
  /// @throws std::bad_alloc, or what `make` throws. If the function throws, the letter is still
  /// blank.
  void prepare(const auto& make) {
    if (!element_)
      element_ = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Message(make()));
  }
  /// Returns the message of a written letter; the caller may change the message.
  Message& message() noexcept { return element_->content().template get_mutable_as<Message>(0); }
  /// Sends a written letter to the actor `to`, which is not null, from a handler that `unit` runs.
  /// Afterwards the letter is blank.
  void send(const auto& to, caf::execution_unit* unit) noexcept {
    caf::actor_cast<caf::strong_actor_ptr>(to)->enqueue(std::move(element_), unit);
  }
  /// Returns the message of a written letter in the form in which CAF sends it. Afterwards the
  /// letter is blank.
  caf::mailbox_element_ptr take() noexcept { return std::move(element_); }

 private:
  caf::mailbox_element_ptr element_;
};

}  // namespace penstock::actors
