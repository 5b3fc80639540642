// A fuzzer of readers mutates what a reader accepts, and expects that the reader reads or refuses
// whatever comes of it, in a short line, without a crash and without end.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace penstock::testing {

struct FuzzedReader {
  std::string name;
  std::vector<std::string> seeds;  ///< Are inputs that are accepted.
  std::vector<std::string> words;  ///< Are parts of inputs that mean something.
  /// Reads an input; throws penstock::Error if it refuses it.
  std::function<void(const std::string&)> read;
};

/// Fuzzes the readers that the command line names, or all of them, and prints what came of it.
/// Returns the process's exit code: 0 if nothing was found, 1 if something was, 2 for a command
/// line that makes no sense.
int fuzz(std::span<const FuzzedReader> readers, int argc, char** argv);

}  // namespace penstock::testing
