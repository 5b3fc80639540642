// These functions read from /proc what the operating system says of a process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns the facts of process `pid`. A fact that cannot be read stays empty.
ProcessFacts facts_of(std::int64_t pid);

/// Returns whether process `pid` has ended: there is none of that number, or it is dead or a
/// zombie.
bool has_ended(std::int64_t pid);

/// Returns `text` as UTF-8 without control characters. Each byte of a control character, and each
/// byte that is not part of a valid character, becomes "?".
std::string cleaned(std::string_view text);

}  // namespace monitor
