// These functions read from /proc what the operating system says of a process.
#pragma once

#include <cstdint>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns the facts of process `pid`. A fact that cannot be read stays empty.
ProcessFacts facts_of(std::int64_t pid);

/// Returns whether process `pid` has ended: there is none of that number, or it is dead or a
/// zombie.
bool has_ended(std::int64_t pid);

}  // namespace monitor
