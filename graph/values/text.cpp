#include "graph/values/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock {
namespace {

constexpr std::size_t longest_name = 100;

bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

std::string without_controls(std::string text) {
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

}  // namespace

std::string count_text(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string hexadecimal(std::uint64_t number, std::size_t digits) {
  std::array<char, 16> written{};
  const auto end = std::to_chars(written.data(), written.data() + written.size(), number, 16).ptr;
  const std::string text(written.data(), end);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && continues_a_character(text[limit])) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

std::string quoted_name(std::string_view name) {
  std::string text(name.substr(0, longest_name));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "\"" + text + (name.size() > longest_name ? "...\"" : "\"");
}

std::string quoted_text(std::string_view text) {
  return '"' + without_controls(shortened(text, longest_name)) + '"';
}

std::string printable(std::string_view text) {
  return without_controls(shortened(text));
}

}  // namespace penstock
