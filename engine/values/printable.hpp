// Texts from outside, made fit for a message: short, and without characters that break its line.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

/// The longest text that a message may consist of, in bytes.
inline constexpr std::size_t longest_message = 4000;

/// `text` if it has at most `limit` bytes, else its beginning and "...". No character of UTF-8 is
/// cut in two.
std::string shortened(std::string_view text, std::size_t limit = longest_message);

/// A name out of a file: in quotes, at most 100 bytes of it, unprintable characters as "?".
std::string quoted_name(std::string_view name);

/// At most 4000 bytes of a text such as a path. Control characters, such as the end of a line,
/// become "?".
std::string printable(std::string_view text);

}  // namespace penstock
