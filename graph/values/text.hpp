// These pure functions write texts for messages: counts, lists and numbers in base 16. They also
// make texts that come from outside the engine short, and free of characters that break a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace penstock {

/// Returns `count` and the noun `what`, which gets an "s" unless the count is 1, such as "1 sample"
/// or "2 samples".
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

/// `longest_message` is the number of bytes that shortened() leaves of a text unless the caller
/// says otherwise.
inline constexpr std::size_t longest_message = 4000;

/// Returns `text` if it has at most `limit` bytes, and otherwise the first `limit` bytes of `text`
/// and "...". Fewer bytes are left if a character of UTF-8 would be cut in two.
std::string shortened(std::string_view text, std::size_t limit = longest_message);

/// Returns at most 100 bytes of `name`, in quotes, with "..." behind them if the name is longer.
/// Every byte that is not a printable ASCII character becomes "?".
std::string quoted_name(std::string_view name);

/// Returns `text`, such as a name that the host has given, in quotes, and shortened to 100 bytes.
/// Control characters become "?".
std::string quoted_text(std::string_view text);

/// Returns `text`, such as a path, shortened to 4000 bytes. Control characters, such as the end of
/// a line, become "?".
std::string printable(std::string_view text);

}  // namespace penstock
