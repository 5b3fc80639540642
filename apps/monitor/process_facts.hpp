// What the system says of a process, from /proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns what can be read of the process. What cannot is left out.
ProcessFacts facts_of(std::int64_t pid);

/// Returns whether process `pid` has ended: there is none of that number, or it is dead or a
/// zombie.
bool has_ended(std::int64_t pid);

/// Returns `text` as UTF-8 without control characters: what is neither becomes "?".
std::string cleaned(std::string_view text);

}  // namespace monitor
