// run_command() runs a program to its end, and returns all that the program has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::testing {

struct CommandResult {
  int code = -1;  ///< This is the exit code, or -1 if a signal ended the program.
  std::string out;
  std::string err;
};

/// An Unread says what a program finds at the other end of a stream that run_command() does not
/// read.
enum class Unread : std::uint8_t {
  hung_up,  ///< The stream is a pipe whose reader has gone.
  closed,   ///< The stream is not open.
};

struct CommandOptions {
  /// If this is set, the program's stdout goes to the file of this name instead of to the result.
  std::optional<std::string> out = {};
  std::optional<Unread> unread_out = {};
  std::optional<Unread> unread_err = {};
  /// This signal is sent to the program as soon as the program has written to stderr.
  std::optional<int> signal = {};
  /// No file of the program may have more bytes than this, as on a disk that fills up.
  std::optional<std::uint64_t> file_bytes = {};
  /// After this time, a signal ends the program.
  unsigned most_seconds = 300;
};

/// Runs `command`, which has the program's path and its arguments.
/// @throws std::runtime_error if the program cannot be started.
CommandResult run_command(const std::vector<std::string>& command,
                          const CommandOptions& options = {});

}  // namespace penstock::testing
