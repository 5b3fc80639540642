// base_init() says what an actor of the engine does with messages that it does not expect.
#pragma once

#include <caf/scheduled_actor.hpp>

namespace penstock::actors {

/// Makes a message for which the actor has no handler end the actor, with an error that names the
/// message: the engine's actors know all messages that they send each other, so an unexpected one
/// is a bug. An answer that is an error ends the actor, too. Nothing is printed.
void base_init(caf::scheduled_actor* self);

}  // namespace penstock::actors
