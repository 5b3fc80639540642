// The command line: from argv to what is to be done, and the help.
#pragma once

#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

struct Command {
  TrainerOptions options = {};
  /// To be printed instead of a run: the help, or the configuration that the options make.
  std::optional<std::string> text = {};
};

/// What the arguments say: a configuration file's options first, whatever its place among them,
/// then their own. @throws penstock::Error invalid_argument naming the argument, for whatever is
/// unknown, malformed, given twice, out of range or does not fit the rest; and as
/// read_configuration().
Command read_command_line(int argc, const char* const* argv);

/// Every option with what it means and its default.
std::string help_text();

}  // namespace trainer
