#include "actors/system/base_init.hpp"

#include <caf/message.hpp>
#include <caf/message_view.hpp>
#include <caf/result.hpp>

#include "actors/system/errors.hpp"

namespace penstock::actors {
namespace {

caf::result<caf::message> refuse(caf::scheduled_actor* self, caf::message_view& view) {
  const caf::error error =
      to_caf(Errc::internal, std::string("actor ") + self->name() + ": no handler for message " +
                                 to_string(view.copy_content_to_message()));
  self->quit(error);
  return error;
}

}  // namespace

void base_init(caf::scheduled_actor* self) {
  self->set_default_handler(refuse);
  self->set_error_handler(
      [](caf::scheduled_actor* actor, caf::error& error) { actor->quit(std::move(error)); });
  // CAF's default handler would print each message that tells of an actor's end.
  self->set_down_handler([](caf::scheduled_actor*, caf::down_msg&) {});
}

}  // namespace penstock::actors
