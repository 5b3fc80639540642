// train() runs the trainer that this build has made. The arguments `quick` train on synthetic
// images, for tests to which the images matter little.
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

/// Returns arguments for steps of 5 updates of 2 micro-batches of 8 images, `updates` updates in
/// all.
inline Arguments quick_for(const std::string& updates) {
  return {"--dataset",
          "synthetic",
          "--batch-size",
          "8",
          "--device-iterations",
          "5",
          "--gradient-accumulation",
          "2",
          "--max-updates",
          updates};
}

/// These arguments ask for three steps, of 5, 5 and 2 updates.
inline const Arguments quick = quick_for("12");
inline const Arguments quick_mlp = quick + Arguments{"--model", "mlp"};

inline void expect_success(const CommandResult& result) {
  EXPECT_EQ(result.code, 0) << result.err;
}

/// Returns the accuracy in percent if the run printed nothing else, and -1 otherwise.
inline double printed_accuracy(const CommandResult& result) {
  const std::regex only_line("Accuracy on test set: ([0-9]+\\.[0-9]{2})%\n");
  std::smatch match;
  return std::regex_match(result.out, match, only_line) ? std::stod(match[1]) : -1;
}

}  // namespace penstock::testing
