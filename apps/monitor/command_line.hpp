// What the command line asks of the monitor.
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
  std::optional<std::string> text = {};  ///< Is what is to be printed instead, if it is there.
};

/// @throws penstock::Error invalid_argument
Command read_command_line(int argc, const char* const* argv);

}  // namespace monitor
