// A Command is what the command line asks the monitor to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace monitor {

struct Command {
  bool once = false;
  bool json = false;
  bool why = false;
  std::optional<std::int64_t> pid = {};
  double interval_seconds = 1;
  /// If --help or --version is given, `text` is the text that is printed; nothing else is printed
  /// then.
  std::optional<std::string> text = {};
};

/// Reads the command line. @throws penstock::Error invalid_argument if an option is not valid.
Command read_command_line(int argc, const char* const* argv);

}  // namespace monitor
