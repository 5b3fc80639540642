// With a CommaLocale, the process's numbers have a comma before their decimals and points between
// their thousands, as in German, for C's functions and for C++'s streams.
#pragma once

#include <locale>
#include <string>

namespace penstock::testing {

/// Changes the process's locale for as long as the object lives. There is at most one such object
/// at a time. It makes its locale with localedef, which is a part of the C library.
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
