// These pure functions make texts from outside fit for a message: short, and without characters
// that break its line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

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
