// The program penstock-report compares the profiles of two runs.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/report/comparison.hpp"

namespace {

constexpr const char* usage =
    "Usage: penstock-report compare BEFORE AFTER\n"
    "Says what became faster, slower, larger and smaller from one profile to another. BEFORE and\n"
    "AFTER are directories that --profile has written, such as profile/training, or their files\n"
    "profile.json. Figures that differ by at most 3 % are only counted.\n";

constexpr double least_change = 0.03;
constexpr int refused = 2;

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (arguments.size() != 3 || arguments[0] != "compare") {
    std::cerr << usage;
    return refused;
  }
  try {
    std::cout << report::compare(report::read_figures(arguments[1]),
                                 report::read_figures(arguments[2]), least_change);
    std::cout.flush();
    return std::cout ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "penstock-report: " << error.what() << '\n';
    return refused;
  }
}
