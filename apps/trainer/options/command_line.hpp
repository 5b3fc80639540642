// The command line leads from argv to what is to be done. The help is here, too.
#pragma once

#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

struct Command {
  TrainerOptions options = {};
  /// Is to be printed instead of a run: the help, or the configuration that the options make.
  std::optional<std::string> text = {};
};

/// Reads what the arguments say: the options of a configuration file come first, whatever its place
/// among the arguments, then their own.
/// @throws penstock::Error invalid_argument that names the argument, for whatever is unknown,
/// malformed, given twice, out of range or does not fit the rest; and as read_configuration().
Command read_command_line(int argc, const char* const* argv);

/// Returns every option with what it means and its default.
std::string help_text();

}  // namespace trainer
