// CAF spawns two actors with each system, for remote spawning and for settings. The engine does not
// use them. CAF would end them in a destructor that needs memory, and that ends the process if
// there is no memory.
#pragma once

#include <caf/fwd.hpp>

namespace penstock::actors {

/// Makes sure that each of CAF's two internal actors ends as soon as `system` has it. Ending an
/// actor so early takes no memory, and if something fails afterwards, there is no internal actor
/// left to end. The thread that constructs `system` calls this function before CAF spawns the two
/// actors.
/// @throws std::bad_alloc
void end_internal_actors_at_once(caf::actor_system& system);

}  // namespace penstock::actors
