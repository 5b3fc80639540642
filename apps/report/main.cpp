// The program penstock-report compares the profiles of two runs.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/report/comparison.hpp"
#include "apps/report/comparison_page.hpp"
#include "penstock/output_file.hpp"
#include "penstock/terminal_text.hpp"
#include "penstock/version.hpp"

namespace {

constexpr const char* usage =
    "Usage: penstock-report compare BEFORE AFTER [--html FILE]\n"
    "Says what became faster, slower, larger and smaller from one profile to another. BEFORE and\n"
    "AFTER are directories that --profile has written, such as profile/training, or their files\n"
    "profile.json. Figures that differ by at most 3 % are only counted. --html writes a page that\n"
    "shows both side by side, in place of the text. penstock-report --version prints the "
    "version.\n";

constexpr double least_change = 0.03;
constexpr int refused = 2;

/// Writes a page into `file`, or a text to stdout if `file` is empty.
void write_comparison(const std::string& before, const std::string& after,
                      const std::string& file) {
  const report::Comparison comparison =
      report::compare(report::read_figures(before), report::read_figures(after), least_change);
  if (file.empty()) {
    std::cout << report::text_of(comparison) << std::flush;
    return;
  }
  penstock::OutputFile page(file);
  page.write(report::comparison_page(comparison, before, after));
  page.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::cout << "penstock-report " << penstock::version << '\n';
    return 0;
  }
  const bool page = arguments.size() == 5 && arguments[3] == "--html" && !arguments[4].empty();
  if ((arguments.size() != 3 && !page) || arguments[0] != "compare") {
    std::cerr << usage;
    return refused;
  }
  try {
    write_comparison(arguments[1], arguments[2], page ? arguments[4] : "");
    return std::cout ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "penstock-report: " << penstock::terminal_text(error.what()) << '\n';
    return refused;
  }
}
