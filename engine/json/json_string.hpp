// Texts in JSON: read from their quotes, checked to be UTF-8, and written. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

struct JsonStringEnd {
  std::size_t at = 0;            ///< behind the closing quote, or where something does not fit
  const char* reason = nullptr;  ///< what does not fit; none if nothing does
};

/// Reads the string of `text` whose opening quote is at `begin`, and appends its value.
JsonStringEnd read_json_string(std::string_view text, std::size_t begin, std::string& value);

/// `text` in quotes, as JSON has it. @throws Error invalid_argument unless it is UTF-8.
std::string json_string(std::string_view text);

}  // namespace penstock
