// While a CommaLocale lives, the process writes numbers with a comma before their decimals and
// points between their thousands, as in German, by C's functions and by C++'s streams.
#pragma once

#include <locale>
#include <string>

namespace penstock::testing {

/// A CommaLocale changes the process's locale for as long as it lives. There is at most one
/// CommaLocale at a time. It makes its locale with localedef, which is a part of the C library.
class CommaLocale {
 public:
  /// Sets the locale. @throws std::runtime_error if there is no localedef, or if the locale has no
  /// effect.
  CommaLocale();
  ~CommaLocale();
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  std::string before_;
  std::locale cpp_before_;
};

}  // namespace penstock::testing
