// What every actor has in common; the first line of every actor's body.
#pragma once

#include <caf/scheduled_actor.hpp>

namespace penstock::actors {

/// A handler that throws ends the actor with its exception as the reason, text included. So does a
/// message that the actor has no handler for: in a closed protocol it is a bug. Nothing is printed.
void base_init(caf::scheduled_actor* self);

}  // namespace penstock::actors
