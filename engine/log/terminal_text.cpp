#include "penstock/terminal_text.hpp"

#include <algorithm>

#include "graph/values/out_of_memory.hpp"

namespace penstock {
namespace {

/// Returns how many bytes the UTF-8 character at the beginning of `text` has. Returns 0 if there is
/// no valid character, or a control character of two bytes.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool no_character = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  const bool control = first == 0xC2 && byte(1) < 0xA0;
  return too_long || no_character || control ? 0 : bytes;
}

/// Returns whether a character changes the direction of the text after it, which may then be shown
/// as another text.
bool turns_text(std::string_view character) {
  return character == "\u061c" || character == "\u200e" || character == "\u200f" ||
         (character >= "\u202a" && character <= "\u202e") ||
         (character >= "\u2066" && character <= "\u2069");
}

}  // namespace

std::string terminal_text(std::string_view text) {
  return or_out_of_memory("terminal_text", [&] {
    std::string clean;
    for (std::string_view remaining = text; !remaining.empty();) {
      const std::size_t bytes = character_bytes(remaining);
      const bool control = bytes == 1 && (remaining[0] < ' ' || remaining[0] == '\x7f');
      clean += bytes == 0 || control || turns_text(remaining.substr(0, bytes))
                   ? "?"
                   : remaining.substr(0, bytes);
      remaining.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return clean;
  });
}

}  // namespace penstock
