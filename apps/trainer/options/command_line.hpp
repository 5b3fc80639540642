// read_command_line() makes a Command of argv. The text of the help is made here, too.
#pragma once

#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

struct Command {
  TrainerOptions options = {};
  /// Is the text that is printed instead of a run: the help, or the options as a configuration.
  std::optional<std::string> text = {};
};

/// Reads the arguments. The options of a configuration file are set first, wherever --config stands
/// among the arguments; options of the command line override them.
/// @throws penstock::Error invalid_argument that names the argument, if an option is unknown,
/// malformed, given twice, out of range or does not fit the others; and what read_configuration()
/// throws.
Command read_command_line(int argc, const char* const* argv);

/// Returns the text of --help, which says what every option means and what its default is.
std::string help_text();

}  // namespace trainer
