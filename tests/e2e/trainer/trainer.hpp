// Runs the trainer that this build has made.
#pragma once

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

}  // namespace penstock::testing
