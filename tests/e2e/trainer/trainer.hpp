// Runs the trainer that this build has made, on synthetic images where it matters little which.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace penstock::testing {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline CommandResult train(const Arguments& arguments, const CommandOptions& options = {}) {
  return run_command(Arguments{PENSTOCK_TRAIN} + arguments, options);
}

/// Asks for three steps of 5, 5 and 2 updates of 2 micro-batches of 8 images.
inline const Arguments quick{"--dataset",
                             "synthetic",
                             "--batch-size",
                             "8",
                             "--device-iterations",
                             "5",
                             "--gradient-accumulation",
                             "2",
                             "--max-updates",
                             "12"};
inline const Arguments quick_mlp = quick + Arguments{"--model", "mlp"};

inline void expect_success(const CommandResult& result) {
  EXPECT_EQ(result.code, 0) << result.err;
}

/// The accuracy in percent that the run printed as its only result; -1 if it did not.
inline double printed_accuracy(const CommandResult& result) {
  const std::regex only_line("Accuracy on test set: ([0-9]+\\.[0-9]{2})%\n");
  std::smatch match;
  return std::regex_match(result.out, match, only_line) ? std::stod(match[1]) : -1;
}

}  // namespace penstock::testing
