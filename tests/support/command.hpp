// run_command() runs a program to its end, and returns all that the program has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::testing {

struct CommandResult {
  int code = -1;  ///< Is the exit code, or -1 if a signal ended the program.
  std::string out;
  std::string err;
};

/// Says what a program finds at the other end of a stream that run_command() does not read.
enum class Unread : std::uint8_t {
  hung_up,  ///< The stream is a pipe whose reader has gone.
  closed,   ///< The stream is not open.
};

struct CommandOptions {
  /// Names a file that gets the program's stdout in place of the result.
  std::optional<std::string> out = {};
  std::optional<Unread> unread_out = {};
  std::optional<Unread> unread_err = {};
  /// Is the signal that is sent to the program as soon as it has written to stderr.
  std::optional<int> signal = {};
  /// Counts the bytes that a file of the program may have at most, as on a disk that fills up.
  std::optional<std::uint64_t> file_bytes = {};
  /// Is the time after which a signal ends the program.
  unsigned most_seconds = 300;
};

/// Runs `command`, which has the program's path and its arguments.
/// @throws std::runtime_error if the program cannot be started.
CommandResult run_command(const std::vector<std::string>& command,
                          const CommandOptions& options = {});

}  // namespace penstock::testing
