// A fuzzer mutates inputs that a reader accepts. It expects that the reader accepts each mutation
// or refuses it with an error of one short line, and neither crashes nor runs for ever.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace penstock::testing {

struct FuzzedReader {
  std::string name;
  std::vector<std::string> seeds;  ///< These are inputs that the reader accepts.
  std::vector<std::string> words;  ///< These are parts of inputs that mean something to the reader.
  /// Reads an input. @throws penstock::Error if the input is refused.
  std::function<void(const std::string&)> read;
};

/// Fuzzes the readers that the command line names, or all of them, and prints the results. Returns
/// the process's exit code: 0 if no defect was found, 1 if one was, 2 if the command line is wrong.
int fuzz(std::span<const FuzzedReader> readers, int argc, char** argv);

}  // namespace penstock::testing
