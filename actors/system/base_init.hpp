// base_init() says what an actor of the engine does with messages that it does not expect.
#pragma once

#include <caf/scheduled_actor.hpp>

namespace penstock::actors {

/// Prepares the actor `self` so that a message for which it has no handler ends it, with an error
/// that names the message. Such a message is a bug, because the engine's actors know all messages
/// that they send each other. An answer that is an error ends the actor, too. Nothing is printed.
void base_init(caf::scheduled_actor* self);

}  // namespace penstock::actors
