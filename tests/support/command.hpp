// Runs a program to its end, and gives back all that it said.
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

/// Says what a program finds at the other end of a stream that is not read here.
enum class Unread : std::uint8_t {
  hung_up,  ///< The stream is a pipe whose reader has gone.
  closed,   ///< The stream is not open.
};

struct CommandOptions {
  /// Names where stdout goes instead of into the result.
  std::optional<std::string> out = {};
  std::optional<Unread> unread_out = {};
  std::optional<Unread> unread_err = {};
  /// Sent to the program as soon as it has said something on stderr.
  std::optional<int> signal = {};
  /// Files may have no more bytes than this, as on a disk that fills up.
  std::optional<std::uint64_t> file_bytes = {};
  /// A program that takes longer is ended by a signal.
  unsigned most_seconds = 300;
};

/// @throws std::runtime_error if the program cannot be started.
CommandResult run_command(const std::vector<std::string>& command,
                          const CommandOptions& options = {});

}  // namespace penstock::testing
