// excerpt() makes a user's text fit for a message of one line. The function is pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainer {

/// A message shows at most this many bytes of a name.
inline constexpr std::size_t longest_name = 100;

/// Returns `text` if it has at most `most` bytes, and otherwise the beginning of `text` and "...".
/// No character of UTF-8 is cut in two. Control characters, such as the end of a line, become "?".
std::string excerpt(std::string_view text, std::size_t most);

}  // namespace trainer
