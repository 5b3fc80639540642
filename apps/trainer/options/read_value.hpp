// These functions help to read the values of options, to refuse those that are not what was
// expected, and to list what would have been.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// Refuses a value. @throws penstock::Error invalid_argument that says what was expected, and the
/// first 100 bytes of what came.
[[noreturn]] void refuse_value(const std::string& expected, std::string_view got);

/// Returns whether `text` is one number of type T and nothing else, and sets `value` to the number.
template <class T>
bool reads_as(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// Returns `words` with `separator` between them.
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");
/// Returns the first `most` of `words`, joined by commas, and how many more there are, such as
/// "a, b and 5 more".
std::string joined_first(std::vector<std::string> words, std::size_t most);
/// Returns a text such as "sgd", "sgd and rmsprop" or "adam, adamw and lamb".
std::string enumeration(const std::vector<std::string>& words,
                        const std::string& before_last = " and ");

}  // namespace trainer
