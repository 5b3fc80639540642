#include "graph/values/printable.hpp"

#include <algorithm>

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
