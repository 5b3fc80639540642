// The table of benchmarks has one line per work. The line shows the engine's figure beside
// PyTorch's or the machine's, and whether the goal is reached.
#pragma once

#include <string>
#include <vector>

namespace penstock::benchmarks {

struct Row {
  std::string work;
  std::string unit = {};
  std::string setting = {};  ///< `setting` describes the engine's setting.
  std::string penstock = {};
  std::string of_peak = {};
  std::string pytorch = {};
  std::string pytorch_setting = {};
  std::string times = {};  ///< `times` is `penstock` as a multiple of `pytorch`.
  std::vector<std::string> goals = {};
};

void print_header();
/// Prints one row, without delay, so that a long run shows how far it is.
void print(const Row& row);

/// Returns a text such as "38123" or "7.25".
std::string number(double value, int decimals = 0);
/// Returns ">= 38000 reached" if `measured` is at least `goal`, and ">= 38000 missed" otherwise.
std::string at_least(double goal, double measured, int decimals = 0);
/// Returns "<= 50 reached" if `measured` is at most `goal`, and "<= 50 missed" otherwise.
std::string at_most(double goal, double measured, int decimals = 0);

}  // namespace penstock::benchmarks
