// These pure functions write texts for messages: numbers of things, lists, numbers in base 16, and
// what comes from outside, which they make short and free of characters that break a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace penstock {

/// Returns a text such as "1 sample" or "2 samples".
std::string count_text(std::int64_t count, const std::string& what);

/// Returns `number` in lower-case hexadecimal digits, padded with zeros in front to `digits`
/// digits.
std::string hexadecimal(std::uint64_t number, std::size_t digits);

/// Returns the texts `of(item)` of all items, separated by `between`, such as "a, b".
template <class Items, class Of = std::identity>
std::string joined(const Items& items, const Of& of = {}, std::string_view between = ", ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += between;
    text += std::invoke(of, item);
    is_first = false;
  }
  return text;
}

/// No message is longer than this number of bytes.
inline constexpr std::size_t longest_message = 4000;

/// Returns `text` if it has at most `limit` bytes, and otherwise its beginning and "...". No
/// character of UTF-8 is cut in two.
std::string shortened(std::string_view text, std::size_t limit = longest_message);

/// Returns at most 100 bytes of `name`, in quotes. Characters that cannot be printed become "?".
std::string quoted_name(std::string_view name);

/// Returns at most 100 bytes of `text`, such as a name that the host has given, in quotes. Control
/// characters become "?".
std::string quoted_text(std::string_view text);

/// Returns at most 4000 bytes of `text`, such as a path. Control characters, such as the end of a
/// line, become "?".
std::string printable(std::string_view text);

}  // namespace penstock
