// A proxy stands for an actor in another process: it has the same type of handle, and gives all
// messages to the link that leads to that process.
#pragma once

#include <string>
#include <utility>

#include "actors/messages/envelope.hpp"
#include "actors/messages/local_messages.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

/// MessageOf<caf::reacts_to<Message>>::type is `Message`.
template <class Signature>
struct MessageOf;
template <class Message>
struct MessageOf<caf::reacts_to<Message>> {
  using type = Message;
};

template <class Handle>
struct Proxy;
template <class... Signatures>
struct Proxy<caf::typed_actor<Signatures...>> {
  using Handle = caf::typed_actor<Signatures...>;

  /// Returns the behavior of a proxy of the actor at `to`, to whose process `link` leads.
  static typename Handle::behavior_type run(typename Handle::pointer self, const Address& to,
                                            const LinkHandle& link) {
    return {[=](typename MessageOf<Signatures>::type& message) {
      forward(self, to, link, message);
    }...};
  }

 private:
  template <class Message>
  static void forward(auto* self, const Address& to, const LinkHandle& link, Message& message) {
    if constexpr (is_one_of<Message, RemoteMessage>)
      self->send(link, Envelope{to, std::move(message)});
    else
      throw Error(Errc::internal, "the " + to_string(to) +
                                      " is in another process, to which its message cannot cross");
  }
};

}  // namespace penstock::actors
