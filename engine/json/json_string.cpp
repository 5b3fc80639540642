#include "engine/json/json_string.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t first_surrogate = 0xD800, first_low_surrogate = 0xDC00,
                        behind_surrogates = 0xE000, last_character = 0x10FFFF;

/// Returns how many bytes a character of UTF-8 has whose first byte is `byte`, or 0 if `byte` is
/// the first byte of no character.
std::size_t bytes_of_character(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte < 0xC2)
    return 0;  // The byte continues a character, or begins a longer form of an ASCII character.
  if (byte < 0xE0) return 2;
  if (byte < 0xF0) return 3;
  return byte < 0xF5 ? 4 : 0;
}

/// Returns how many bytes the first character of `text` has in UTF-8, or 0 if `text` does not begin
/// with a character.
std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = bytes_of_character(byte(0));
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_longer_form =
      (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool is_surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
  const bool is_too_large = byte(0) == 0xF4 && byte(1) >= 0x90;
  return is_longer_form || is_surrogate || is_too_large ? 0 : size;
}

void append_character(std::string& value, std::uint32_t character) {
  const auto continuation = [&](int shift) {
    value += static_cast<char>(0x80 | (character >> shift & 0x3F));
  };
  if (character < 0x80) {
    value += static_cast<char>(character);
  } else if (character < 0x800) {
    value += static_cast<char>(0xC0 | character >> 6);
    continuation(0);
  } else if (character < 0x10000) {
    value += static_cast<char>(0xE0 | character >> 12);
    continuation(6), continuation(0);
  } else {
    value += static_cast<char>(0xF0 | character >> 18);
    continuation(12), continuation(6), continuation(0);
  }
}

/// Returns the number of the four hexadecimal digits at `at`, or nothing if there are no four.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t at) {
  const std::string_view digits = text.substr(std::min(at, text.size()), 4);
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) return std::nullopt;
  return number;
}

bool is_high_surrogate(std::uint32_t unit) {
  return unit >= first_surrogate && unit < first_low_surrogate;
}

bool is_low_surrogate(std::uint32_t unit) {
  return unit >= first_low_surrogate && unit < behind_surrogates;
}

/// Reads the number at `at`, in front of which "\u" stands. If the number is the first half of a
/// character (a high surrogate), a further "\u" with the second half must follow.
JsonStringEnd read_numbered(std::string_view text, std::size_t at, std::string& value) {
  constexpr const char* no_number = "expected four hexadecimal digits behind \\u";
  constexpr const char* half = "expected both halves of a character behind \\u";
  const auto unit = hexadecimal(text, at);
  if (!unit) return {at, no_number};
  if (is_low_surrogate(*unit)) return {at, half};
  if (!is_high_surrogate(*unit)) return append_character(value, *unit), JsonStringEnd{at + 4};
  if (text.substr(at + 4, 2) != "\\u") return {at, half};
  const auto other = hexadecimal(text, at + 6);
  if (!other) return {at + 6, no_number};
  if (!is_low_surrogate(*other)) return {at, half};
  append_character(value,
                   0x10000 + ((*unit - first_surrogate) << 10) + (*other - first_low_surrogate));
  return {at + 10};
}

/// Reads the escape whose backslash is at `at`.
JsonStringEnd read_escape(std::string_view text, std::size_t at, std::string& value) {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  if (at + 1 == text.size()) return {at + 1, "expected the end of a text in quotes"};
  if (text[at + 1] == 'u') return read_numbered(text, at + 2, value);
  const auto letter = letters.find(text[at + 1]);
  if (letter == letters.npos) return {at + 1, "expected a known letter behind a backslash"};
  value += meant[letter];
  return {at + 2};
}

}  // namespace

JsonStringEnd read_json_string(std::string_view text, std::size_t begin, std::string& value) {
  std::size_t at = begin + 1;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') return {at + 1};
    if (c == '\\') {
      const JsonStringEnd end = read_escape(text, at, value);
      if (end.reason) return end;
      at = end.at;
      continue;
    }
    if (static_cast<unsigned char>(c) < ' ') return {at, "expected no control character in a text"};
    const std::size_t size = utf8_character(text.substr(at));
    if (size == 0) return {at, "expected UTF-8"};
    value.append(text, at, size);
    at += size;
  }
  return {at, "expected the end of a text in quotes"};
}

std::string json_string(std::string_view text) {
  constexpr std::string_view plain = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt",
                             digits = "0123456789abcdef";
  std::string json = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_character(text.substr(at));
    if (size == 0) throw Error(Errc::invalid_argument, quoted_name(text) + " is not valid UTF-8");
    const auto special = plain.find(text[at]);
    const auto code = static_cast<unsigned char>(text[at]);
    if (special != plain.npos)
      json += {'\\', letters[special]};
    else if (code < ' ')
      json += {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
    else
      json.append(text, at, size);
    at += size;
  }
  return json += '"';
}

}  // namespace penstock
