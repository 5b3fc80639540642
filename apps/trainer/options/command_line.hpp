// read_command_line() turns the arguments of main() into a Command. help_text() is the text of the
// help.
#pragma once

#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

struct Command {
  TrainerOptions options = {};
  /// If `text` is set, it is printed, and nothing is run: it is the help, or the options as a
  /// configuration.
  std::optional<std::string> text = {};
  /// `note` is a line that names the options of a run which the arguments give beside --download,
  /// where they change nothing. It is empty if there are none, and printed in any case.
  std::string note = {};
};

/// Reads the arguments. The options of a configuration file are set first, wherever --config stands
/// among the arguments; options of the command line override them.
/// @throws penstock::Error invalid_argument that names the argument, if an option is unknown,
/// malformed, given twice, out of range or does not fit the others; and whatever
/// read_configuration() throws.
Command read_command_line(int argc, const char* const* argv);

/// Returns the text of --help, which says what every option means and what its default is.
std::string help_text();

}  // namespace trainer
