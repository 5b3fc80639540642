// The command line: from argv to TrainerOptions, and the help.
#pragma once

#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// What the arguments say; nothing if they ask for help. @throws penstock::Error invalid_argument
/// naming the argument, for whatever is unknown, malformed, given twice, out of range or does not
/// fit the rest.
std::optional<TrainerOptions> read_command_line(int argc, const char* const* argv);

/// Every option with what it means and its default.
std::string help_text();

}  // namespace trainer
