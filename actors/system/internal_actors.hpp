// CAF spawns two actors with each system, for remote spawning and for settings. The engine does not
// use them. CAF would end them in a destructor that needs memory, and that ends the process if
// there is none.
#pragma once

#include <caf/fwd.hpp>

namespace penstock::actors {

/// Sees to it that each of the two actors is ended as soon as `system` has it. That takes no
/// memory, so that whatever fails afterwards has no actor to destroy. The thread that constructs
/// `system` calls this before it spawns the two actors.
/// @throws std::bad_alloc
void end_internal_actors_at_once(caf::actor_system& system);

}  // namespace penstock::actors
