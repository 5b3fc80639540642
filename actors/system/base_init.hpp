// base_init() says what an actor of the engine does with messages that it does not expect.
#pragma once

#include <caf/scheduled_actor.hpp>

namespace penstock::actors {

/// Makes a message for which the actor has no handler end the actor, with an error that names the
/// message: in a closed protocol that is a bug. An error that another actor answers ends it, too.
/// Nothing is printed.
void base_init(caf::scheduled_actor* self);

}  // namespace penstock::actors
