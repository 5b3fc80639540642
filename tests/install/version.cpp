// Usage: version VERSION. The program fails unless each of the constants in version.hpp says that
// the headers have this version.
#include <iostream>
#include <penstock/version.hpp>
#include <string>

using namespace penstock;

int main(int, char** arguments) {
  const std::string expected = arguments[1];
  const std::string numbers = std::to_string(version_major) + "." + std::to_string(version_minor) +
                              "." + std::to_string(version_patch);
  const int number = 10000 * version_major + 100 * version_minor + version_patch;
  if (version == expected && numbers == expected && PENSTOCK_VERSION == number) return 0;
  std::cerr << "include/penstock/version.hpp says " << version << ", " << numbers << " and "
            << PENSTOCK_VERSION << ", but meson.build says " << expected << '\n';
  return 1;
}
