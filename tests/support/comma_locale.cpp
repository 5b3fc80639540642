#include "tests/support/comma_locale.hpp"

#include <stdlib.h>

#include <clocale>
#include <cstdio>
#include <stdexcept>

#include "tests/support/command.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr const char* source =
    "LC_NUMERIC\n"
    "decimal_point \",\"\n"
    "thousands_sep \".\"\n"
    "grouping 3;3\n"
    "END LC_NUMERIC\n";

class CommaPunctuation : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// Returns the folder in which the C library finds the locale "comma". The first call makes it.
const TemporaryDirectory& locales() {
  static const TemporaryDirectory directory;
  if (!std::filesystem::exists(directory / "comma")) {
    write_file(directory / "source", source);
    // With -c, localedef goes on after its warnings that the source defines nothing but how numbers
    // look.
    run_command({"/usr/bin/localedef", "-c", "-i", (directory / "source").string(),
                 (directory / "comma").string()});
  }
  return directory;
}

void expect_effect() {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", 0.5);
  if (std::string(text) != "0,50") throw std::runtime_error("the locale has no effect");
}

}  // namespace

CommaLocale::CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
  ::setenv("LOCPATH", locales().path().c_str(), 1);
  const bool set = std::setlocale(LC_NUMERIC, "comma") != nullptr;
  ::unsetenv("LOCPATH");
  if (!set) throw std::runtime_error("localedef has made no locale");
  expect_effect();
  cpp_before_ = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  // Setting the C++ locale has not changed C's locale, because the C++ locale has no name.
  expect_effect();
}

CommaLocale::~CommaLocale() {
  std::locale::global(cpp_before_);
  std::setlocale(LC_ALL, before_.c_str());
}

}  // namespace penstock::testing
