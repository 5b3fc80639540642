// The table of benchmarks: one line per work, the engine beside PyTorch or the
// machine, and beside its goal.
#pragma once

#include <string>
#include <vector>

namespace penstock::benchmarks {

struct Row {
  std::string work;
  std::string unit = {};
  std::string setting = {};  ///< of the engine
  std::string penstock = {};
  std::string of_peak = {};
  std::string pytorch = {};
  std::string pytorch_setting = {};
  std::string times = {};  ///< penstock as a multiple of pytorch
  std::vector<std::string> goals = {};
};

void print_header();
/// At once, so that a long run shows where it is.
void print(const Row& row);

/// "38123", "7.25"
std::string number(double value, int decimals = 0);
/// ">= 38000 reached" or ">= 38000 missed": a number to be reached from below.
std::string at_least(double goal, double measured, int decimals = 0);
/// The same from above: "<= 50 reached".
std::string at_most(double goal, double measured, int decimals = 0);

}  // namespace penstock::benchmarks
