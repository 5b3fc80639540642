// The table of benchmarks has one line per work, with the engine beside PyTorch or the machine, and
// beside its goal.
#pragma once

#include <string>
#include <vector>

namespace penstock::benchmarks {

struct Row {
  std::string work;
  std::string unit = {};
  std::string setting = {};  ///< Describes how the engine was set.
  std::string penstock = {};
  std::string of_peak = {};
  std::string pytorch = {};
  std::string pytorch_setting = {};
  std::string times = {};  ///< Is penstock as a multiple of pytorch.
  std::vector<std::string> goals = {};
};

void print_header();
/// Prints a row at once, so that a long run shows where it is.
void print(const Row& row);

/// Returns a text such as "38123" or "7.25".
std::string number(double value, int decimals = 0);
/// Returns ">= 38000 reached" or ">= 38000 missed" for a number that is to be reached from below.
std::string at_least(double goal, double measured, int decimals = 0);
/// Returns the same for a number that is to be reached from above: "<= 50 reached".
std::string at_most(double goal, double measured, int decimals = 0);

}  // namespace penstock::benchmarks
