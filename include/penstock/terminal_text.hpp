// terminal_text() makes texts that come from anywhere, such as names and paths, safe to show on a
// terminal.
#pragma once

#include <string>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// Returns `text` as UTF-8 without control characters, which might steer the terminal that shows
/// them, and without characters that change the direction of a text. Each byte of a control
/// character, the end of a line included, each such character, and each byte that is not part of a
/// valid character becomes "?". @throws Error out_of_memory
std::string terminal_text(std::string_view text);

}  // namespace penstock
