// Every actor of the engine treats messages that it does not expect in this way.
#pragma once

#include <caf/scheduled_actor.hpp>

namespace penstock::actors {

/// A message that the actor has no handler for ends it with an error that names the message, for in
/// a closed protocol that is a bug. So does an error that another actor answers. Nothing is
/// printed.
void base_init(caf::scheduled_actor* self);

}  // namespace penstock::actors
