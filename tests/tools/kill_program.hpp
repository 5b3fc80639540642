// kill_program() is the main function of the programs that kill processes at random instants.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace penstock::testing {

/// Calls `run` with the number of kills and the seed that the options --kills and --seed say, and
/// returns its result as the process's exit code. An exception is printed, and gives 1.
inline int kill_program(int argc, char** argv, const char* name, int (*run)(int, unsigned)) {
  int kills = 300;
  unsigned seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--kills") kills = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--seed") seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  try {
    return run(kills, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace penstock::testing
