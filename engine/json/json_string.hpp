// These pure functions read the strings of JSON, check that they are UTF-8, and write them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

struct JsonStringEnd {
  std::size_t at = 0;  ///< `at` is the position behind the closing quote, or of what does not fit.
  /// `reason` says what does not fit. It is null if everything fits.
  const char* reason = nullptr;
};

/// Reads the string of `text` whose opening quote is at `begin`, and appends its value to `value`.
JsonStringEnd read_json_string(std::string_view text, std::size_t begin, std::string& value);

/// Returns `text` in quotes, as JSON. @throws Error invalid_argument unless it is UTF-8.
std::string json_string(std::string_view text);

}  // namespace penstock
